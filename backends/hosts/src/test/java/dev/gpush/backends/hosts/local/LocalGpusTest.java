package dev.gpush.backends.hosts.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.testkit.contract.BackendContract;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** One GPU never belongs to two gangs: of two homes, of two users, after a crash. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class LocalGpusTest {
  private static final int TURNS = Integer.getInteger("gpush.race.turns", 4);

  @TempDir private Path folder;

  private LocalPlace place(String home) throws Exception {
    return LocalPlace.of(folder.resolve(home), folder.resolve("machine"));
  }

  @Test
  void twoHomesThatRaceNeverGetTheSameGpu() throws Exception {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("twoHomesThatRaceNeverGetTheSameGpu: gpush.seed=" + seed);
    Set<String> held = ConcurrentHashMap.newKeySet();
    try (LocalPlace first = place("first");
        LocalPlace second = place("second");
        Tasks tasks = Tasks.named("homes", (_, _) -> {})) {
      List<Work<Integer, Exception>> racers =
          List.of(
              () -> takeAndGive(first, new Random(seed), held),
              () -> takeAndGive(second, new Random(seed + 1), held));

      int grants = tasks.all("racer", racers).stream().mapToInt(Integer::intValue).sum();

      assertTrue(grants > 0, "nobody ever got anything");
      assertEquals(Set.of(), held);
      assertEquals(List.of(), first.leftovers());
      assertEquals(List.of(), second.leftovers());
    }
  }

  /**
   * Notes each GPU in the shared set as long as the gang is held; a GPU that is there is shared.
   */
  private static int takeAndGive(LocalPlace place, Random random, Set<String> held)
      throws InterruptedException {
    int grants = 0;
    for (int turn = 0; turn < TURNS; turn++) {
      String gpus = Integer.toString(1 + random.nextInt(4));
      GangRequest request = place.request(1 + random.nextInt(2), gpus, BackendContract.LONG);
      Gang gang;
      try {
        gang = place.backend().reserve(request);
      } catch (GpushException refused) {
        assertInstanceOf(BackendFailure.Taken.class, refused.failure());
        continue;
      }
      grants++;
      for (String slot : slots(gang)) {
        assertTrue(held.add(slot), () -> "GPU " + slot + " was granted twice");
      }
      held.removeAll(slots(gang));
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
    }
    return grants;
  }

  private static List<String> slots(Gang gang) {
    return gang.nodes().stream().map(NodeInfo::slots).flatMap(List::stream).toList();
  }

  @Test
  void anotherUsersGpusAreTakenToo() throws Exception {
    Path setpriv = Path.of("/usr/bin/setpriv");
    boolean isRoot = Integer.valueOf(0).equals(Files.getAttribute(folder, "unix:uid"));
    assumeTrue(isRoot && Files.exists(setpriv), "needs root and setpriv to be a second user");
    Path rule = Path.of("/proc/sys/fs/protected_regular");
    if (Files.exists(rule)) {
      System.out.println("fs.protected_regular=" + Files.readString(rule).strip());
    }
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
    Path home = Files.createDirectories(folder.resolve("nobody"));
    UserPrincipal nobody =
        home.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    Files.setOwner(home, nobody);
    Object uid = Files.getAttribute(home, "unix:uid");
    List<String> become =
        List.of(
            setpriv.toString(),
            "--reuid=" + uid,
            "--regid=" + uid,
            "--clear-groups",
            "--inh-caps=-all",
            "--bounding-set=-all");

    try (LocalPlace mine = place("mine");
        LocalPlace other = LocalPlace.asUser(home, folder.resolve("machine"), become)) {
      // The folder and some lock files belong to me, so both users meet files of the other.
      Gang early = mine.backend().reserve(mine.request(1, "2", BackendContract.LONG));
      Gang theirs = other.backend().reserve(other.request(1, "5", BackendContract.LONG));
      mine.backend().release(early, BackendContract.LIMIT);

      Plan.Later later =
          assertInstanceOf(
              Plan.Later.class, mine.backend().plan(mine.request(1, "4", BackendContract.LONG)));
      Gang rest = mine.backend().reserve(mine.request(1, "3", BackendContract.LONG));

      String holder = later.holders().getFirst();
      assertTrue(holder.matches("devbox of alice for [0-9]+s \\(5 GPUs\\)"), holder);
      var all = new ArrayList<>(slots(theirs));
      all.addAll(slots(rest));
      assertEquals(LocalPlace.GPUS, Set.copyOf(all).size());
      assertInstanceOf(
          Plan.Later.class, other.backend().plan(other.request(1, "1", BackendContract.LONG)));

      other.backend().release(theirs, BackendContract.LIMIT);
      mine.backend().release(rest, BackendContract.LIMIT);
      assertEquals(List.of(), other.leftovers());

      // Every lock file is there now, made by one of us: each can take all of them.
      Gang allMine = mine.backend().reserve(mine.request(4, "2", BackendContract.LONG));
      mine.backend().release(allMine, BackendContract.LIMIT);
      Gang allTheirs = other.backend().reserve(other.request(4, "2", BackendContract.LONG));
      other.backend().release(allTheirs, BackendContract.LIMIT);
      assertEquals(List.of(), mine.leftovers());
      assertEquals(List.of(), other.leftovers());
    }
  }

  @Test
  void aGpuThatAnotherUserUsesWithoutGpushIsNotTakenButOnesOwnIs() throws Exception {
    Path setpriv = Path.of("/usr/bin/setpriv");
    boolean isRoot = Integer.valueOf(0).equals(Files.getAttribute(folder, "unix:uid"));
    assumeTrue(isRoot && Files.exists(setpriv), "needs root and setpriv to be a second user");
    List<String> become = List.of(setpriv.toString(), "--reuid=65534", "--clear-groups", "sleep");
    Process theirs =
        new ProcessBuilder(Stream.concat(become.stream(), Stream.of("600")).toList()).start();
    Process ours = new ProcessBuilder("sleep", "600").start();
    try (LocalPlace place = place("home")) {
      awaitUser(theirs.pid());
      LocalPlace.install(
          place.programs().resolve("nvidia-smi"),
          """
          #!/bin/sh
          case "$1" in
          *compute-apps*) printf 'GPU-0, %d, /usr/bin/sleep\nGPU-1, %d, sleep\n';;
          *) printf '0, GPU-0, Tesla T4\n1, GPU-1, Tesla T4\n';;
          esac
          """
              .formatted(theirs.pid(), ours.pid()));

      Plan.Later later =
          assertInstanceOf(
              Plan.Later.class, place.backend().plan(place.request(1, "2", BackendContract.LONG)));
      Gang gang = place.backend().reserve(place.request(1, "1", BackendContract.LONG));

      assertEquals("1 of 2 GPUs free", later.reason());
      String user = Files.getOwner(Path.of("/proc/" + theirs.pid())).getName();
      assertEquals(
          List.of("sleep (process " + theirs.pid() + " of " + user + "), without gpush (1 GPU)"),
          later.holders());
      assertEquals(List.of("1"), gang.nodes().getFirst().slots());
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
    } finally {
      theirs.destroyForcibly();
      ours.destroyForcibly();
    }
  }

  /** Until it is another user's: setpriv begins as ours. */
  private static void awaitUser(long pid) throws Exception {
    while (Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/" + pid), "unix:uid"))) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void amdGpusAreFoundWhereNvidiaSmiNamesNone() throws Exception {
    try (LocalPlace place = place("home")) {
      LocalPlace.install(place.programs().resolve("nvidia-smi"), "#!/bin/sh\n");
      LocalPlace.install(
          place.programs().resolve("rocm-smi"),
          "#!/bin/sh\nprintf 'device,Unique ID\\ncard0,0x1a2b\\ncard1,0x3c\\ncardX,0x4\\n'\n");

      assertEquals("this machine: 2 CPUs, 2 × AMD", place.backend().describe());
      Gang gang = place.backend().reserve(place.request(1, "2", BackendContract.LONG));

      assertEquals(List.of("0", "1"), gang.nodes().getFirst().slots());
      assertTrue(Files.exists(place.locks().resolve("gpu-0x1a2b")));
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
    }
  }

  @Test
  void aKilledAgentLetsItsGpusGoAtOnce() throws Exception {
    try (LocalPlace place = place("home")) {
      Gang gang = place.backend().reserve(place.request(2, "4", BackendContract.LONG));

      place.kill(gang, 0);
      Gang next = place.backend().reserve(place.request(1, "4", BackendContract.LONG));

      assertEquals(gang.nodes().getFirst().slots(), next.nodes().getFirst().slots());
      assertInstanceOf(Observation.Partly.class, place.backend().observe(gang));
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertInstanceOf(Observation.Exists.class, place.backend().observe(next));
    }
  }

  @Test
  void aGangThatLostANodeIsMadeWholeWhenAskedForAgain() throws Exception {
    try (LocalPlace place = place("home")) {
      GangRequest request = place.request(2, "3", BackendContract.LONG);
      Gang gang = place.backend().reserve(request);
      place.kill(gang, 0);

      Gang again = place.backend().reserve(request);

      assertEquals(gang.nodes().get(1), again.nodes().get(1));
      assertEquals(6, Set.copyOf(slots(again)).size());
      assertTrue(place.backend().discover(LocalPlace.OWNER).getFirst().complete());
    }
  }

  @Test
  void aLockFileThatCannotBeReadCountsAsHeld() throws Exception {
    try (LocalPlace place = place("home")) {
      Gang gang = place.backend().reserve(place.request(1, "8", BackendContract.LONG));
      place.backend().release(gang, BackendContract.LIMIT);
      try (var files = Files.newDirectoryStream(place.locks())) {
        Path first = files.iterator().next();
        Files.delete(first);
        Files.createSymbolicLink(first, Path.of("elsewhere"));
      }

      Plan.Later later =
          assertInstanceOf(
              Plan.Later.class, place.backend().plan(place.request(1, "8", BackendContract.LONG)));

      assertTrue(later.holders().getFirst().startsWith("unusable lock file"), later::toString);
      Gang rest = place.backend().reserve(place.request(1, "7", BackendContract.LONG));
      place.backend().release(rest, BackendContract.LIMIT);
    }
  }

  @Test
  void aModelIsMatchedAsPeopleWriteIt() throws Exception {
    try (LocalPlace place = place("home")) {
      Backend backend = place.backend();

      assertInstanceOf(
          Plan.Now.class, backend.plan(place.request(2, "h100:4", BackendContract.LONG)));
      Plan.Never none =
          assertInstanceOf(
              Plan.Never.class, backend.plan(place.request(1, "A100:1", BackendContract.LONG)));
      assertEquals("this machine has no A100 GPU", none.reason());
      Plan.Never many =
          assertInstanceOf(
              Plan.Never.class, backend.plan(place.request(3, "H100:4", BackendContract.LONG)));
      assertEquals(List.of("--nodes 2 --gpus H100:4", "--nodes 3 --gpus 0"), many.works());
      assertEquals("this machine: 2 CPUs, 8 × H100", backend.describe());
      assertFalse(Files.exists(place.locks()), "planning made the folder of the locks");
    }
  }

  @Test
  void aToolThatFailsIsNamedAndNotTakenForAMachineWithoutGpus() throws Exception {
    try (LocalPlace place = place("home")) {
      LocalPlace.install(place.programs().resolve("nvidia-smi"), "#!/bin/sh\nexit 9\n");

      assertEquals(
          "this machine: 2 CPUs, no GPUs (nvidia-smi: exit status 9)", place.backend().describe());
      GpushException refused =
          assertThrows(
              GpushException.class,
              () -> place.backend().reserve(place.request(1, BackendContract.LONG)));
      var never = assertInstanceOf(BackendFailure.NeverFits.class, refused.failure());
      assertEquals("this machine has no GPU (nvidia-smi: exit status 9)", never.reason());
    }
  }
}
