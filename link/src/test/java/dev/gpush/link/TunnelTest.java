package dev.gpush.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.PipeAround;
import dev.gpush.link.machine.LinkLimits;
import dev.gpush.link.tunnel.NodeTunnel;
import dev.gpush.link.tunnel.TunnelCertificate;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Links through node 0's agent, with real agents. Seeded; {@code -Dgpush.seed=N} repeats a run and
 * {@code -Dgpush.rounds=N} makes it longer.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("link")
class TunnelTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", LONG ? 10 : 1);
  private static final int FAULTS = 8;
  private static final int NODES = 3;

  /** Short enough for a test, long enough for a loaded machine to answer most of the time. */
  private static final LinkTiming FAST =
      new LinkTiming(
          Duration.ofMillis(300),
          Duration.ofMillis(1_500),
          Duration.ofMillis(500),
          Duration.ofSeconds(3),
          Duration.ofSeconds(20),
          Duration.ofMillis(5),
          Duration.ofMillis(100));

  private static final LinkTiming PATIENT = FAST.withContact(Duration.ofDays(1));

  private final TunnelCertificate certificate = TunnelCertificate.create(new SecureRandom());
  private final Recorder<FaultyPipe> pipes = new Recorder<>();
  private AgentGang gang;

  @BeforeEach
  void startsAgents() throws Exception {
    gang = new AgentGang(NODES);
  }

  @AfterEach
  void releasesTheAgents() throws Exception {
    gang.close();
  }

  private Link first(LinkTiming timing) {
    return gang.link(
        0,
        timing,
        () -> {
          var pipe = new FaultyPipe(gang.relay(0));
          pipes.add(pipe);
          return pipe;
        });
  }

  private Link through(Link first, int node, LinkTiming timing) {
    return gang.link(node, timing, () -> NodeTunnel.open(first, node, NODES, certificate));
  }

  private static String said(Link link, String command) throws Exception {
    BlockingStream stream = link.open(Json.object("type", "exec", "command", command));
    return new String(stream.output(0).readAllBytes(), UTF_8);
  }

  @Test
  void everyByteAndEveryEndArrivesOnAllNodes() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    try (Link first = first(PATIENT);
        Link second = through(first, 1, PATIENT);
        Link third = through(first, 2, PATIENT);
        var one = new Oracle(second, gang.tasks(), seed, LONG ? 8 : 3);
        var two = new Oracle(third, gang.tasks(), seed + 1, LONG ? 8 : 3);
        var zero = new Oracle(first, gang.tasks(), seed + 2, 1)) {
      first.connect();
      Json.Obj welcome = second.connect();
      third.connect();
      assertEquals(gang.agent(1), welcome.number("pid").orElseThrow());

      one.start();
      two.start();
      zero.start();

      assertTrue(one.await() + two.await() + zero.await() > 0, "seed " + seed);
    }
    assertEquals("", gang.log());
  }

  @Test
  void everyByteArrivesWhateverBreaksBeforeNodeZeroAndBehindIt() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("TunnelTest seed " + seed + " (-Dgpush.seed), rounds " + ROUNDS);
    var random = new Random(seed);
    var calm = new AtomicBoolean(true);
    var faults = new AtomicInteger();
    try (Link first = gang.link(0, FAST, () -> disturbed(gang.relay(0), random, calm, faults));
        Link second =
            gang.link(
                1,
                FAST,
                () ->
                    disturbed(
                        NodeTunnel.open(first, 1, NODES, certificate), random, calm, faults))) {
      first.connect();
      second.connect();
      for (int round = 0; round < ROUNDS || faults.get() < FAULTS; round++) {
        try (var oracle = new Oracle(second, gang.tasks(), random.nextLong(), LONG ? 8 : 3)) {
          oracle.start();
          calm.set(false);
          first.renewPipe();
          second.renewPipe();
          oracle.await();
        } catch (IOException | RuntimeException | AssertionError lost) {
          throw new AssertionError("seed " + seed + ": " + gang.states().all(), lost);
        }
      }
      calm.set(true);
    }
    assertTrue(
        gang.states().all().stream().noneMatch(state -> state.toString().contains("protocol")),
        () -> "seed " + seed + ": " + gang.states().all());
  }

  private static Pipe disturbed(
      Pipe pipe, Random random, AtomicBoolean calm, AtomicInteger faults) {
    if (calm.get()) {
      return new FaultyPipe(pipe);
    }
    faults.incrementAndGet();
    var never = FaultyPipe.End.never();
    synchronized (random) {
      var end =
          random.nextBoolean()
              ? FaultyPipe.End.afterBytes(1L << random.nextInt(18), random.nextBoolean())
              : new FaultyPipe.End(
                  random.nextInt(40), random.nextInt(4) * 7L, random.nextBoolean());
      return random.nextBoolean()
          ? new FaultyPipe(pipe, never, end, 0)
          : new FaultyPipe(pipe, end, never, 0);
    }
  }

  @Test
  void whoDoesNotReadOrDoesNotTakeHoldsUpNobodyElse() throws Exception {
    try (Link first = first(PATIENT);
        Link second = through(first, 1, PATIENT);
        Link third = through(first, 2, PATIENT)) {
      first.connect();
      second.connect();
      third.connect();

      BlockingStream unread = second.open(Json.object("type", "exec", "command", "exec yes"));
      unread.awaitOpened();
      BlockingStream untaken =
          second.open(Json.object("type", "exec", "command", "exec sleep 600", "stdin", true));
      untaken.awaitOpened();
      long size = fill(untaken);

      assertTrue(size >= LinkLimits.DEFAULT_WINDOW, "it took " + size);
      for (Link link : java.util.List.of(second, third, first)) {
        assertEquals("here\n", said(link, "echo here"));
      }
      unread.close();
      untaken.close();
    }
  }

  /** Until nothing more is taken. */
  private static long fill(BlockingStream stream) throws Exception {
    var bytes = java.nio.ByteBuffer.allocate(2 * LinkLimits.MAX_WINDOW);
    Recorder.until(
        "it is full",
        () -> {
          stream.stream().trySend(0, bytes);
          return bytes.position() >= LinkLimits.DEFAULT_WINDOW;
        });
    return bytes.position();
  }

  @Test
  void aTunnelHoldsBackWhereThePipeAroundItDoes() throws Exception {
    try (Link first = first(PATIENT);
        Link held = gang.link(0, PATIENT, () -> new Held(gang.relay(0)))) {
      first.connect();
      assertFalse(NodeTunnel.open(first, 1, NODES, certificate).holdsBack());
      held.connect();
      assertTrue(NodeTunnel.open(held, 1, NODES, certificate).holdsBack());
    }
  }

  /** As srun's sockets. */
  private static final class Held extends PipeAround {
    Held(Pipe pipe) {
      super(pipe, pipe.output(), pipe.errors());
    }

    @Override
    public boolean holdsBack() {
      return true;
    }
  }

  @Test
  void whenNodeZeroIsKilledTheLinkGoesOnOverAPipeOfItsOwn() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var isDirect = new AtomicBoolean();
    try (Link first = first(PATIENT);
        Link second =
            gang.link(
                1,
                PATIENT,
                () ->
                    isDirect.get()
                        ? gang.relay(1)
                        : NodeTunnel.open(first, 1, NODES, certificate));
        var oracle = new Oracle(second, gang.tasks(), seed, 3)) {
      first.connect();
      second.connect();
      oracle.start();

      isDirect.set(true);
      ProcessHandle agent = ProcessHandle.of(gang.agent(0)).orElseThrow();
      agent.destroyForcibly();
      agent.onExit().get();
      first.gone("as the backend says of a node without an agent");

      assertTrue(oracle.await() > 0, "seed " + seed);
    }
  }

  @Test
  void whileNodeZeroIsSilentAnotherPipeTakesOver() throws Exception {
    var isDirect = new AtomicBoolean();
    try (Link first = first(PATIENT);
        Link second =
            gang.link(
                1,
                FAST,
                () ->
                    isDirect.get()
                        ? gang.relay(1)
                        : NodeTunnel.open(first, 1, NODES, certificate))) {
      first.connect();
      second.connect();
      BlockingStream cat =
          second.open(Json.object("type", "exec", "command", "exec cat", "stdin", true));
      cat.input().write("before ".getBytes(UTF_8));
      assertEquals("before ", new String(cat.output(0).readNBytes(7), UTF_8));

      isDirect.set(true);
      FaultyPipe silent = pipes.all().getFirst();
      silent.freezeDown(true);
      silent.freezeUp(true);
      cat.input().write("after".getBytes(UTF_8));
      cat.input().close();

      assertEquals("after", new String(cat.output(0).readAllBytes(), UTF_8));
      silent.freezeUp(false);
      silent.freezeDown(false);
      assertEquals("here\n", said(first, "echo here"));
    }
  }
}
