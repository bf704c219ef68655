package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the launcher does to make its ahead-of-time caches, with a java and an ssh that only write
 * down how they are called: above all it logs in to nothing but the session of its own.
 */
@Tag("training")
final class LauncherTrainingIT {
  /** The jars are copied, which a busy machine takes its time for. */
  private static final int SECONDS = 100;

  private static final String BLOCK = "Host other devbox\n  HostName 127.0.0.1\n";

  @TempDir private Path folder;
  private Path calls;
  private FakePrograms programs;

  @BeforeEach
  void prepare() throws IOException {
    programs = new FakePrograms(folder);
    calls = Files.createFile(folder.resolve("calls"));
    Files.createDirectories(folder.resolve("tmp"));
    Path jdk = Files.createDirectories(folder.resolve("jdk"));
    Files.writeString(
        jdk.resolve("release"), "JAVA_VERSION=\"25.0.1\"\nJAVA_RUNTIME_VERSION=\"25.0.1+8\"\n");
    programs.add(
        "jdk/bin/java",
        FakePrograms.JAVA
            + """
        printf '%%s\\n' "java ${words#* * * }" >>"%s"
        case $words in
          *' up') cat gpush.yaml >"%s"
                  [ ! -f "$UP_WRITES" ] || cat "$UP_WRITES" >"$GPUSH_HOME/ssh_config"
                  exit "$UP_EXITS" ;;
          *' gateway stop') [ ! -p "%s" ] || echo stops >"%s" ;;
        esac
        """
                .formatted(calls, project(), folder.resolve("stops"), folder.resolve("stops")));
    programs.add("bin/ssh", "printf '%%s\\n' \"ssh $*\" >>\"%s\"; cat >/dev/null".formatted(calls));
  }

  private Path project() {
    return folder.resolve("project");
  }

  /** What was called while it trained: each ssh, and each command of gpush. */
  private List<String> trained(int upExits, String sshConfig) throws Exception {
    Path writes = folder.resolve("up-writes");
    if (!sshConfig.isEmpty()) {
      Files.writeString(writes, sshConfig);
    }
    started(Map.of("GPUSH_AOT", "0", "UP_EXITS", "0", "UP_WRITES", ""));
    started(
        Map.of(
            "GPUSH_TRAIN",
            "1",
            "UP_EXITS",
            Integer.toString(upExits),
            "UP_WRITES",
            writes.toString()));
    assertEquals(List.of(), List.of(folder.resolve("tmp").toFile().list()), "its home is removed");
    return FakePrograms.read(calls).lines().toList();
  }

  private void started(Map<String, String> more) throws Exception {
    var builder =
        new ProcessBuilder(LauncherIT.launcher().toString(), "version")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("said").toFile());
    var environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("GPUSH_"));
    environment.put("GPUSH_JAVA_HOME", folder.resolve("jdk").toString());
    environment.put("GPUSH_REBUILD", "0");
    environment.put("XDG_CACHE_HOME", folder.resolve("cache").toString());
    environment.put("TMPDIR", folder.resolve("tmp").toString());
    environment.put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
    environment.putAll(more);
    Process process = builder.start();
    assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), () -> FakePrograms.read(folder.resolve("said")));
  }

  /** It stops its gateway at the end, which here waits until this reads that. */
  private void awaitTraining() throws Exception {
    assertEquals("stops\n", Files.readString(folder.resolve("stops")));
    String who = FakePrograms.read(mark()).strip();
    if (!who.equals("done")) {
      ProcessHandle.of(Long.parseLong(who)).ifPresent(process -> process.onExit().join());
    }
  }

  /** The only one that there is. */
  private Path mark() throws IOException {
    try (var files = Files.find(folder.resolve("cache/gpush"), 2, (at, _) -> isMark(at))) {
      return files.findFirst().orElseThrow();
    }
  }

  private static boolean isMark(Path file) {
    return file.toString().endsWith(".training");
  }

  /** How often it was trained until now. */
  private long trainings() {
    return FakePrograms.read(calls).lines().filter("java up"::equals).count();
  }

  private static List<String> logins(List<String> called) {
    return called.stream().filter(line -> line.startsWith("ssh ")).toList();
  }

  @Test
  void theFirstCommandDoesNotWaitForItAndTheNextOnesMakeNoOther() throws Exception {
    Map<String, String> everything = Map.of("UP_EXITS", "1", "UP_WRITES", "");
    Path stops = folder.resolve("stops");
    assertEquals(0, new ProcessBuilder("mkfifo", stops.toString()).start().waitFor());

    started(everything);
    awaitTraining();
    started(everything);

    assertEquals(1, trainings(), () -> FakePrograms.read(calls));
  }

  @Test
  void anotherJdkIsTrainedForWithTheSameJars() throws Exception {
    trained(1, "");
    Files.writeString(
        folder.resolve("jdk/release"),
        "JAVA_VERSION=\"25.0.2\"\nJAVA_RUNTIME_VERSION=\"25.0.2+9\"\n");

    trained(1, "");

    assertEquals(2, trainings(), () -> FakePrograms.read(calls));
  }

  @Test
  void aMarkThatAFullDiskLeftEmptyHoldsNothingUp() throws Exception {
    trained(1, "");
    Path mark = mark();
    assertEquals("done\n", FakePrograms.read(mark));
    Files.writeString(mark, "");

    trained(1, "");

    assertEquals(2, trainings(), () -> FakePrograms.read(calls));
    assertEquals("done\n", FakePrograms.read(mark));
  }

  @Test
  void withoutHardLinksItIsMadeOnce() throws Exception {
    programs.add("bin/ln", "exit 1");
    trained(1, "");

    trained(1, "");

    assertEquals(1, trainings(), () -> FakePrograms.read(calls));
  }

  @Test
  void itsSessionIsOnThisMachineWhateverTheSitePrefers() throws Exception {
    trained(1, "");

    assertEquals("backends: [local]\nnodes: 1\ngpus: 0\n", FakePrograms.read(project()));
  }

  @Test
  void whatAKilledTrainingLeftIsRemovedAfterADay() throws Exception {
    Path old = Files.createDirectories(folder.resolve("tmp/gpush-train.killed"));
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(49))));

    trained(1, "");
  }

  @Test
  void logsInToItsOwnSessionWithoutAskingAnybody() throws Exception {
    List<String> called = trained(0, BLOCK);

    List<String> logins = logins(called);
    assertEquals(3, logins.size(), called::toString);
    for (String login : logins) {
      assertTrue(
          login.matches(".*/ssh_config -o BatchMode=yes -o ConnectTimeout=10 (-L \\S+ )?devbox .*"),
          login);
    }
    assertTrue(called.contains("java down"), called::toString);
  }

  @Test
  void logsInToNothingWhenItsSessionWasNotMade() throws Exception {
    List<String> called = trained(1, BLOCK);

    assertTrue(called.contains("java up"), called::toString);
    assertEquals(List.of(), logins(called));
  }

  @Test
  void logsInToNothingThatTheConfigurationDoesNotName() throws Exception {
    assertEquals(List.of(), logins(trained(0, "# no session yet\nHost devbox2 my-devbox\n")));
  }

  @Test
  void logsInToNothingWithoutAConfiguration() throws Exception {
    assertEquals(List.of(), logins(trained(0, "")));
  }
}
