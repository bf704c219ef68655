package dev.gpush.testkit.contract;

import static dev.gpush.testkit.contract.BackendPlace.OWNER;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/**
 * What every {@link Backend} does. Each test gets its own place, in which nothing is reserved, and
 * leaves nothing. Tests wait by asking again until a limit, without sleeping.
 */
public interface BackendContract {
  LeaseTerms LONG = new LeaseTerms(Optional.empty(), Duration.ofHours(1));

  /** Enough for a slow machine under load. */
  Duration LIMIT = Duration.ofMinutes(3);

  /**
   * If a loaded machine is slower than the lease, the test is repeated with twice the lease, this
   * many times.
   */
  int LEASES = 6;

  /** How long a race lasts on a backend where the losers wait in a queue. */
  Duration QUEUED = Duration.ofSeconds(5);

  BackendPlace open() throws Exception;

  @Test
  default void planHasNoEffect() throws Exception {
    try (BackendPlace place = open()) {
      Backend backend = place.backend();

      assertInstanceOf(Plan.Now.class, backend.plan(place.request(place.capacity(), LONG)));
      Plan.Never never = assertInstanceOf(Plan.Never.class, backend.plan(place.never()));

      assertFalse(never.reason().isBlank());
      assertFalse(never.works().isEmpty());
      assertEquals(List.of(), place.leftovers());
      assertEquals(List.of(), backend.discover(OWNER));
    }
  }

  @Test
  default void grantsAllNodesEachWithItsOwnSlots() throws Exception {
    try (BackendPlace place = open()) {
      GangRequest request = place.request(place.capacity(), LONG);

      Gang gang = place.backend().reserve(request);

      assertEquals(request.gang(), gang.id());
      assertEquals(place.backend().name(), gang.backend());
      assertEquals(request.nodes(), gang.nodes().size());
      var workspaces = new HashSet<String>();
      for (int index = 0; index < gang.nodes().size(); index++) {
        NodeInfo node = gang.nodes().get(index);
        assertEquals(index, node.index());
        assertTrue(node.workspace().startsWith("/"), node::workspace);
        assertTrue(node.workspace().endsWith("/" + request.requester().project()), node::workspace);
        assertTrue(workspaces.add(node.address() + " " + node.workspace()), node::workspace);
        assertFalse(node.slots().isEmpty());
      }
      noSlotTwice(place, List.of(gang));
      assertInstanceOf(Observation.Exists.class, place.backend().observe(gang));
      released(place, gang);
    }
  }

  @Test
  default void theSameGangAskedForAgainIsTheSameGang() throws Exception {
    try (BackendPlace place = open()) {
      GangRequest request = place.request(2, LONG);

      Gang first = place.backend().reserve(request);
      Gang second = place.backend().reserve(request);
      Gang third = place.again().reserve(request);

      assertEquals(first, second);
      assertEquals(first, third);
      assertEquals(1, place.backend().discover(OWNER).size());
      released(place, first);
    }
  }

  @Test
  default void tooManyNeverFitAndHoldNothing() throws Exception {
    try (BackendPlace place = open()) {
      BackendFailure.NeverFits failure =
          assertInstanceOf(
              BackendFailure.NeverFits.class,
              refused(() -> place.backend().reserve(place.never())));

      assertEquals(place.backend().name(), failure.backend());
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  default void whatIsTakenIsSaidWithItsHolderAndHoldsNothing() throws Exception {
    try (BackendPlace place = open()) {
      Gang all = place.backend().reserve(place.request(place.capacity() - 1, LONG));

      GangRequest two = place.request(2, LONG);
      Plan.Later later = assertInstanceOf(Plan.Later.class, place.backend().plan(two));
      assertFalse(later.holders().isEmpty());
      if (place.backend().capabilities().hasQueue()) {
        waitsUntilNobodyDoes(place, two);
      } else {
        BackendFailure.Taken taken =
            assertInstanceOf(
                BackendFailure.Taken.class, refused(() -> place.backend().reserve(two)));
        assertFalse(taken.holders().isEmpty());
      }
      assertEquals(List.of(all), gangs(place.backend()));
      Gang last = place.backend().reserve(place.request(1, LONG));
      noSlotTwice(place, List.of(all, last));
      released(place, all);
      released(place, last);
    }
  }

  /** It reports what it waits for; a caller that stops waiting leaves nothing in the queue. */
  private static void waitsUntilNobodyDoes(BackendPlace place, GangRequest request)
      throws Exception {
    var heard = new LinkedBlockingQueue<String>();
    try (Tasks tasks = Tasks.named("waits", (_, _) -> {})) {
      Task<Gang, RuntimeException> waiting =
          tasks.fork("reserve", () -> place.backend().reserve(request, heard::add));
      String word = heard.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertFalse(String.valueOf(word).isBlank());
      assertEquals(1, discovered(place.backend(), request));
      waiting.cancel();
      long start = System.nanoTime();
      while (discovered(place.backend(), request) > 0) {
        assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "it waits on");
        place.onPoll();
      }
    }
  }

  private static long discovered(Backend backend, GangRequest request) {
    return backend.discover(OWNER).stream()
        .filter(found -> found.gang().id().equals(request.gang()))
        .count();
  }

  @Test
  default void gangsThatRaceNeverShareASlot() throws Exception {
    long seed = seed("gangsThatRaceNeverShareASlot");
    var random = new Random(seed);
    try (BackendPlace place = open();
        Tasks tasks = Tasks.named("race", (_, _) -> {})) {
      var racers = new ArrayList<Work<Optional<Gang>, RuntimeException>>();
      for (int i = 0; i < 4; i++) {
        GangRequest request = place.request(1 + random.nextInt(place.capacity()), LONG);
        Backend backend = i % 2 == 0 ? place.backend() : place.again();
        racers.add(() -> granted(backend, request));
      }

      List<Gang> gangs = RacingReservations.gangs(place, tasks, racers);

      noSlotTwice(place, gangs);
      assertEquals(new HashSet<>(gangs), new HashSet<>(gangs(place.backend())));
      for (Gang gang : gangs) {
        assertEquals(List.of(), place.backend().release(gang, LIMIT));
      }
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  default void releaseIsConfirmedAndCanBeAskedAgain() throws Exception {
    try (BackendPlace place = open()) {
      Gang gang = place.backend().reserve(place.request(place.capacity(), LONG));

      released(place, gang);

      assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      assertEquals(List.of(), place.again().release(gang, LIMIT));
      assertEquals(List.of(), place.backend().discover(OWNER));
      Gang next = place.backend().reserve(place.request(place.capacity(), LONG));
      released(place, next);
    }
  }

  @Test
  default void aFileThatIsNotOursIsKeptAndNamed() throws Exception {
    try (BackendPlace place = open()) {
      Gang gang = place.backend().reserve(place.request(2, LONG));
      String file = gang.nodes().get(1).workspace() + "/notes/mine.txt";
      String script = "mkdir -p \"${1%/*}\" && cat >\"$1\"";
      List<String> write = List.of("sh", "-c", script, "sh", file);
      assertEquals(0, Ended.of(place.backend().spawn(gang, 1, write), bytes("keep me")).status());

      List<String> kept = place.backend().release(gang, LIMIT);

      assertEquals(1, kept.size());
      assertTrue(kept.getFirst().startsWith("node 1: " + gang.nodes().get(1).workspace() + "/"));
      String named = kept.getFirst().substring("node 1: ".length());
      assertTrue(file.equals(named) || file.startsWith(named.replaceFirst("/*$", "/")), named);
      assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      if (place.backend().capabilities().keepsFiles()) {
        assertEquals("keep me", place.read(gang, 1, file));
        assertEquals(List.of("file " + file), place.leftovers());
      } else {
        assertEquals(List.of(), place.leftovers());
      }
    }
  }

  @Test
  default void whatWasNeverReservedIsGone() throws Exception {
    try (BackendPlace place = open()) {
      GangRequest request = place.request(1, LONG);
      var gang = new Gang(request.gang(), place.backend().name(), List.of(), "");

      assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      assertEquals(List.of(), place.backend().release(gang, LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  default void releaseWorksWithoutKnowingTheNodes() throws Exception {
    try (BackendPlace place = open()) {
      GangRequest request = place.request(2, LONG);
      place.backend().reserve(request);
      var unknown = new Gang(request.gang(), place.backend().name(), List.of(), "");

      assertInstanceOf(Observation.Exists.class, place.backend().observe(unknown));
      released(place, unknown);
    }
  }

  @Test
  default void theLeaseEndsByItselfAndRenewMovesIt() throws Exception {
    try (BackendPlace place = open()) {
      Backend backend = place.backend();
      Gang extended = reserved(place, Optional.of(LONG));
      Gang ending = reserved(place, Optional.empty());
      Gang shortened = backend.reserve(place.request(1, LONG));
      backend.renew(shortened, endingAfter(place.shortLease()));

      awaitGone(place, ending);
      awaitGone(place, shortened);

      assertInstanceOf(Observation.Exists.class, backend.observe(extended));
      assertEquals(List.of(extended), gangs(backend));
      assertEquals(List.of(), backend.release(ending, LIMIT));
      assertEquals(List.of(), backend.release(shortened, LIMIT));
      released(place, extended);
    }
  }

  private static LeaseTerms endingAfter(Duration time) {
    return new LeaseTerms(Optional.of(time), Duration.ofHours(1));
  }

  /** A gang with a short lease, renewed before its end if that is requested. */
  private static Gang reserved(BackendPlace place, Optional<LeaseTerms> renewed)
      throws InterruptedException {
    Duration time = place.shortLease();
    for (int attempt = 1; ; attempt++) {
      GangRequest request = place.request(1, endingAfter(time));
      try {
        Gang gang = place.backend().reserve(request);
        renewed.ifPresent(terms -> place.backend().renew(gang, terms));
        return gang;
      } catch (GpushException overAlready) {
        if (attempt == LEASES) {
          throw overAlready;
        }
        var begun = new Gang(request.gang(), place.backend().name(), List.of(), "");
        place.backend().release(begun, LIMIT);
        time = time.multipliedBy(2);
      }
    }
  }

  @Test
  default void discoverFindsWhatReserveMade() throws Exception {
    try (BackendPlace place = open()) {
      GangRequest request = place.request(2, LONG);
      Gang gang = place.backend().reserve(request);

      Discovered whole =
          new Discovered(
              gang, request.requester().session(), OWNER, request.requester().holder(), true);
      assertEquals(List.of(whole), place.again().discover(OWNER));
      assertEquals(List.of(), place.again().discover("mallory"));
      assertEquals(List.of(), place.again().discover(""));

      place.kill(gang, 0);
      List<Discovered> half = place.backend().discover(OWNER);
      assertEquals(1, half.size());
      assertFalse(half.getFirst().complete());
      assertEquals(request.gang(), half.getFirst().gang().id());
      released(place, gang);
    }
  }

  @Test
  default void whatDiesIsNamedAndTheRestLivesOn() throws Exception {
    try (BackendPlace place = open()) {
      Gang gang = place.backend().reserve(place.request(3, LONG));

      for (int dead : List.of(1, 0)) {
        place.kill(gang, dead);

        Observation.Partly partly =
            assertInstanceOf(Observation.Partly.class, place.backend().observe(gang));
        assertEquals(dead == 1 ? List.of(1) : List.of(0, 1), partly.lost());
        assertTrue(partly.reason().contains("1"), partly::reason);
        place.backend().renew(gang, LONG);
      }
      assertEquals(
          0, Ended.of(place.backend().spawn(gang, 2, List.of("true")), bytes("")).status());

      place.kill(gang, 2);
      assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      released(place, gang);
    }
  }

  @Test
  default void spawnGivesEveryByteAndTheExitStatus() throws Exception {
    var random = new Random(seed("spawnGivesEveryByteAndTheExitStatus"));
    try (BackendPlace place = open()) {
      Gang gang = place.backend().reserve(place.request(1, LONG));
      var noise = new byte[300_000];
      random.nextBytes(noise);

      Ended copied = Ended.of(place.backend().spawn(gang, 0, List.of("cat")), noise);
      assertArrayEquals(noise, Ended.bytes(copied.output()));
      assertEquals(0, copied.status());

      Ended failed =
          Ended.of(place.backend().spawn(gang, 0, List.of("sh", "-c", "cat >&2; exit 7")), noise);
      assertErrors(noise, Ended.bytes(failed.errors()));
      assertEquals("", failed.output());
      assertEquals(7, failed.status());

      String odd = "a b\t'c' \"$(d)\" \\ é *\n-n;&|";
      Ended said =
          Ended.of(place.backend().spawn(gang, 0, List.of("printf", "%s", odd)), bytes(""));
      assertEquals(odd, new String(Ended.bytes(said.output()), StandardCharsets.UTF_8));
      released(place, gang);
    }
  }

  /** Where what starts a command writes there too, it is enough that its own are in it. */
  default void assertErrors(byte[] expected, byte[] errors) {
    assertArrayEquals(expected, errors);
  }

  @Test
  default void closingAPipeEndsTheCommand() throws Exception {
    try (BackendPlace place = open()) {
      Gang gang = place.backend().reserve(place.request(1, LONG));
      Pipe pipe = place.backend().spawn(gang, 0, List.of("sh", "-c", "echo up; exec cat"));
      assertEquals('u', pipe.output().read());

      pipe.close();
      pipe.close();

      assertTrue(pipe.await() != 0);
      released(place, gang);
    }
  }

  @Test
  default void anInterruptedReservationHoldsNothing() throws Exception {
    long seed = seed("anInterruptedReservationHoldsNothing");
    var random = new Random(seed);
    try (BackendPlace place = open();
        Tasks tasks = Tasks.named("interrupted", (_, _) -> {})) {
      for (int round = 0; round < 3; round++) {
        GangRequest request = place.request(place.capacity(), LONG);
        var begun = new CountDownLatch(1);
        var ended = new CountDownLatch(1);
        var granted = new ArrayList<Gang>();
        Task<Boolean, RuntimeException> reservation =
            tasks.fork(
                "reserve-" + round,
                () -> {
                  begun.countDown();
                  try {
                    return granted.add(place.backend().reserve(request));
                  } finally {
                    ended.countDown();
                  }
                });
        // A task that is cancelled before it started never ends.
        assertTrue(begun.await(LIMIT.toSeconds(), TimeUnit.SECONDS));
        try {
          reservation.get(Duration.ofMillis(random.nextInt(600)));
        } catch (TimeoutException now) {
          reservation.cancel();
        }
        assertTrue(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS));
        for (Gang gang : granted) {
          place.backend().release(gang, LIMIT);
        }
        assertEquals(List.of(), place.leftovers());
        assertEquals(List.of(), place.backend().discover(OWNER));
      }
    }
  }

  private static void released(BackendPlace place, Gang gang) throws Exception {
    assertEquals(List.of(), place.backend().release(gang, LIMIT));
    assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
    if (place.backend().discover(OWNER).isEmpty()) {
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** A question at the moment of the end may have no answer. */
  private static void awaitGone(BackendPlace place, Gang gang) {
    long start = System.nanoTime();
    Observation seen = place.backend().observe(gang);
    while (!(seen instanceof Observation.Gone)) {
      assertFalse(seen instanceof Observation.Partly, seen::toString);
      assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "the lease does not end: " + seen);
      place.onPoll();
      seen = place.backend().observe(gang);
    }
    assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
  }

  private static Optional<Gang> granted(Backend backend, GangRequest request)
      throws InterruptedException {
    try {
      return Optional.of(backend.reserve(request));
    } catch (GpushException refused) {
      assertInstanceOf(BackendFailure.Taken.class, refused.failure());
      return Optional.empty();
    }
  }

  private static void noSlotTwice(BackendPlace place, List<Gang> gangs) {
    var seen = new HashSet<String>();
    for (Gang gang : gangs) {
      for (NodeInfo node : gang.nodes()) {
        for (String slot : place.slots(node)) {
          assertTrue(seen.add(slot), () -> slot + " was granted twice");
        }
      }
    }
  }

  private static List<Gang> gangs(Backend backend) {
    return backend.discover(OWNER).stream().map(Discovered::gang).toList();
  }

  private static Object refused(Callable<Gang> reservation) {
    return assertThrows(GpushException.class, reservation::call).failure();
  }

  private static long seed(String test) {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("BackendContract." + test + ": gpush.seed=" + seed);
    return seed;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
