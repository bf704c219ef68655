package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.task.Clock;
import dev.gpush.link.machine.LinkLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The link over pipes that break, against a real agent. Seeded; {@code -Dgpush.seed=N} repeats a
 * run and {@code -Dgpush.rounds=N} makes it longer (the profile {@code long} does).
 */
@Timeout(900)
@Execution(ExecutionMode.CONCURRENT)
@Tag("link")
class LinkFaultsTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  private static final int ROUNDS = Integer.getInteger("gpush.rounds", LONG ? 20 : 1);

  /** Fewer say nothing: rounds go on until there were so many. */
  private static final int FAULTS = 8;

  /** Short enough for a test, long enough for a loaded machine to answer most of the time. */
  private static final LinkTiming FAST =
      new LinkTiming(
          Duration.ofMillis(300),
          Duration.ofMillis(1_000),
          Duration.ofMillis(500),
          Duration.ofSeconds(3),
          Duration.ofSeconds(20),
          Duration.ofMillis(5),
          Duration.ofMillis(100));

  private static final LinkTiming PATIENT = FAST.withContact(Duration.ofDays(1));

  private final Recorder<FaultyPipe> pipes = new Recorder<>();
  private AgentNode node;

  @BeforeEach
  void makesANode() throws Exception {
    node = new AgentNode();
  }

  @AfterEach
  void releasesTheAgent() throws Exception {
    node.close();
  }

  private FaultyPipe recorded(FaultyPipe pipe) {
    pipes.add(pipe);
    return pipe;
  }

  private Link healthy(LinkTiming timing) {
    return healthy(AgentNode.Reach.RELAY, timing);
  }

  private Link healthy(AgentNode.Reach reach, LinkTiming timing) {
    return node.link(reach, Clock.system(), timing, pipe -> recorded(new FaultyPipe(pipe)));
  }

  @ParameterizedTest
  @EnumSource
  void everyByteAndEveryEndArrivesWhateverThePipesDo(AgentNode.Reach reach) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println(
        "LinkFaultsTest " + reach + " seed " + seed + " (-Dgpush.seed), rounds " + ROUNDS);
    var random = new Random(seed);
    var calm = new AtomicBoolean(true);
    var faults = new AtomicInteger();
    try (Link link =
        node.link(
            reach,
            Clock.system(),
            FAST,
            pipe -> calm.get() ? new FaultyPipe(pipe) : faulty(pipe, random, faults))) {
      link.connect();
      for (int round = 0; round < ROUNDS || faults.get() < FAULTS; round++) {
        try (var oracle = new Oracle(link, node.tasks(), random.nextLong(), LONG ? 8 : 3)) {
          oracle.start();
          calm.set(false);
          link.renewPipe();
          long bytes = whole(oracle, seed);
          System.err.println("round " + round + ": " + bytes + " bytes, " + faults + " faults");
        }
      }
      calm.set(true);
    }
    assertTrue(
        node.states().all().stream().noneMatch(state -> state.toString().contains("protocol")),
        () -> "seed " + seed + ": " + node.states().all());
    assertEquals("", node.log(), () -> "seed " + seed);
  }

  private long whole(Oracle oracle, long seed) throws Exception {
    try {
      return oracle.await();
    } catch (IOException | RuntimeException | AssertionError lost) {
      throw new AssertionError(
          "seed " + seed + ": " + node.states().all() + ", agent: " + node.log(), lost);
    }
  }

  /** A pipe that will break, at a place that the seed says. */
  private FaultyPipe faulty(Pipe pipe, Random random, AtomicInteger faults) {
    faults.incrementAndGet();
    var never = FaultyPipe.End.never();
    synchronized (random) {
      long frames = random.nextInt(40);
      long part = random.nextInt(4) * 7L;
      long bytes = 1L << random.nextInt(18);
      boolean isClean = random.nextBoolean();
      return switch (random.nextInt(8)) {
        case 0 -> new FaultyPipe(pipe, never, FaultyPipe.End.afterBytes(bytes, isClean), 0);
        case 1 -> new FaultyPipe(pipe, FaultyPipe.End.afterBytes(bytes, isClean), never, 0);
        case 2 -> new FaultyPipe(pipe, never, new FaultyPipe.End(frames, part, isClean), 0);
        case 3 -> new FaultyPipe(pipe, new FaultyPipe.End(frames, part, isClean), never, 0);
        case 4 -> new FaultyPipe(pipe, never, FaultyPipe.End.afterBytes(4 * bytes, true), 700);
        case 5 -> laterStill(new FaultyPipe(pipe), random.nextInt(200), true, false);
        case 6 -> laterStill(new FaultyPipe(pipe), random.nextInt(200), false, true);
        default -> laterStopped(pipe, random.nextInt(200));
      };
    }
  }

  private FaultyPipe laterStill(FaultyPipe pipe, long millis, boolean up, boolean down) {
    node.tasks()
        .start(
            "freeze",
            () -> {
              LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
              pipe.freezeUp(up);
              pipe.freezeDown(down);
            });
    return pipe;
  }

  /** The relay itself stands still, as a stopped ssh does; without one, both ways do. */
  private FaultyPipe laterStopped(Pipe pipe, long millis) {
    if (!(pipe instanceof ProcessPipe)) {
      return laterStill(new FaultyPipe(pipe), millis, true, true);
    }
    node.tasks()
        .start(
            "stop",
            () -> {
              LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
              signal(pipe, "STOP");
            });
    return new FaultyPipe(pipe);
  }

  private static void signal(Pipe relay, String name) {
    try {
      long pid = ((ProcessPipe) relay).process().pid();
      new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
    } catch (java.io.IOException broken) {
      throw new IllegalStateException(broken);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static BlockingStream cat(Link link) {
    return link.open(Json.object("type", "exec", "stdin", true, "command", "cat"));
  }

  private static void echoes(BlockingStream stream, String text) throws Exception {
    stream.input().write(text.getBytes(StandardCharsets.UTF_8));
    assertEquals(
        text, new String(stream.output(0).readNBytes(text.length()), StandardCharsets.UTF_8));
  }

  @Test
  void aSilentPipeIsReplacedByOneThatIsOpenedBeside() throws Exception {
    try (Link link = healthy(FAST)) {
      link.connect();
      var stream = cat(link);
      echoes(stream, "before");

      signal(node.pipes().await(_ -> true), "STOP");

      echoes(stream, "after");
      node.states().await(new LinkState.Cut(LinkState.Cut.SILENCE)::equals);
      node.states().await(2, LinkState.Up.class::isInstance);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aPipeThatIsSilentOnTheWayUpOnlyIsReplacedToo(AgentNode.Reach reach) throws Exception {
    try (Link link = healthy(reach, FAST)) {
      link.connect();
      var stream = cat(link);
      echoes(stream, "before");

      pipes.await(_ -> true).freezeUp(true);

      echoes(stream, "after");
    }
  }

  /** The second pipe is asked for and never comes. */
  private Link onePipeOnly(CountDownLatch asked) {
    return node.link(
        Clock.system(),
        FAST,
        pipe -> {
          if (!pipes.all().isEmpty()) {
            asked.countDown();
            new CountDownLatch(1).await();
          }
          return recorded(new FaultyPipe(pipe));
        });
  }

  @Test
  void aSilentPipeThatAnswersBeforeThereIsAnotherIsKept() throws Exception {
    var asked = new CountDownLatch(1);
    try (Link link = onePipeOnly(asked)) {
      link.connect();
      var stream = cat(link);
      echoes(stream, "before");

      pipes.await(_ -> true).freezeDown(true);
      asked.await();
      pipes.await(_ -> true).freezeDown(false);

      node.states().await(2, state -> state instanceof LinkState.Up);
      echoes(stream, "after");
      assertEquals(1, pipes.all().size());
    }
  }

  @Test
  void whenTheNodeIsGoneStreamsEndAlsoWhileAPipeIsBeingOpened() throws Exception {
    var asked = new CountDownLatch(1);
    try (Link link = onePipeOnly(asked)) {
      link.connect();
      var stream = cat(link);
      echoes(stream, "before");
      pipes.await(_ -> true).close();
      asked.await();

      link.gone("preempted");

      assertEquals(
          Json.object("code", "link-over", "facts", Json.object("reason", "preempted")),
          stream.awaitClose());
      assertEquals(new LinkState.Over("preempted"), link.state());
    }
  }

  @Test
  void afterASleepTheDeadPipeIsFoundAtOnce() throws Exception {
    var clock = new FakeClock();
    try (Link link = node.link(clock, PATIENT, pipe -> recorded(new FaultyPipe(pipe)))) {
      link.connect();
      var stream = cat(link);
      echoes(stream, "before");
      pipes.await(_ -> true).freezeDown(true);

      clock.advance(Duration.ofHours(1));
      while (pipes.all().size() < 2) {
        // Slowly, or it would look like one sleep after the other.
        clock.advance(Duration.ofMillis(50));
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      }

      echoes(stream, "after");
    }
  }

  @Test
  void aWriterWaitsWhileThePipeStandsStillAndNothingGrows() throws Exception {
    try (Link link = healthy(PATIENT)) {
      link.connect();
      var stream =
          link.open(Json.object("type", "exec", "stdin", true, "command", "sha256sum; seq 1 9"));
      stream.awaitOpened();
      FaultyPipe pipe = pipes.await(_ -> true);
      pipe.freezeUp(true);
      pipe.freezeDown(true);
      var digest = java.security.MessageDigest.getInstance("SHA-256");
      var random = new Random(3);

      int taken = 0;
      int most = 0;
      for (int piece = 0; piece < 400; piece++) {
        var bytes = new byte[50_000];
        random.nextBytes(bytes);
        var buffer = ByteBuffer.wrap(bytes);
        int count = stream.stream().trySend(0, buffer);
        digest.update(bytes, 0, count);
        taken += count;
        most = Math.max(most, count);
      }
      assertTrue(taken > 0 && taken <= LinkLimits.MAX_WINDOW, "kept " + taken);
      assertTrue(most > 0);

      pipe.freezeUp(false);
      pipe.freezeDown(false);
      stream.input().close();
      String out = new String(stream.output(0).readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(java.util.HexFormat.of().formatHex(digest.digest()), out.split(" ")[0]);
    }
  }

  @Test
  void pausesGrowWhenEveryPipeDiesInItsGreetingOrJustBehind() throws Exception {
    var random = new Random(5);
    var opened = new Recorder<Long>();
    var timing =
        new LinkTiming(
            FAST.ping(),
            FAST.contact(),
            FAST.wake(),
            FAST.greeting(),
            FAST.opening(),
            Duration.ofMillis(40),
            Duration.ofMillis(320));
    try (Link link =
        node.link(
            Clock.system(),
            timing,
            pipe -> {
              opened.add(System.nanoTime());
              int frames = opened.all().size() == 1 ? 2 : random.nextInt(2);
              return new FaultyPipe(
                  pipe, FaultyPipe.End.never(), new FaultyPipe.End(frames, 3, true), 0);
            })) {
      link.connect();

      var times = opened.await(6, _ -> true);

      // Only lower bounds: the machine may be as slow as it likes.
      for (int i = 1; i < 5; i++) {
        long least = Math.min(40L << i - 1, 320) / 2;
        long pause = TimeUnit.NANOSECONDS.toMillis(times.get(i + 1) - times.get(i));
        assertTrue(pause >= least, "pause " + i + " of " + pause + " ms, wanted " + least);
      }
    }
  }
}
