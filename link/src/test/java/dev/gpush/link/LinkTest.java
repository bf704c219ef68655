package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameWriter;
import dev.gpush.link.machine.LinkLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The link against an agent in memory. */
@Execution(ExecutionMode.CONCURRENT)
class LinkTest {
  private static final Json.Obj ECHO = Json.object("type", "echo");
  private static final FakeAgent.Habits GOOD = FakeAgent.Habits.good();

  private final Tasks tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
  private final Recorder<LinkState> states = new Recorder<>();
  private final AtomicReference<Optional<Link>> impatient = new AtomicReference<>(Optional.empty());
  private final List<Link> links = new ArrayList<>();

  @AfterEach
  void closes() {
    links.forEach(Link::close);
    tasks.close();
  }

  private Link link(PipeSource agent, Clock clock) {
    return link(agent, clock, LinkTiming.usual());
  }

  private Link link(PipeSource agent, Clock clock, LinkTiming timing) {
    var identity = new LinkIdentity(3, "me@here", "c".repeat(32), 1);
    var link = new Link(identity, agent, tasks, clock, new Random(1), timing, this::changed);
    impatient.set(Optional.of(link));
    links.add(link);
    return link;
  }

  private Link connected(FakeAgent agent) throws Exception {
    Link link = link(agent, Clock.system());
    link.connect();
    return link;
  }

  /** Tests do not wait between pipes. */
  private void changed(LinkState state) {
    states.add(state);
    if (state instanceof LinkState.Cut) {
      impatient.get().ifPresent(Link::renewPipe);
    }
  }

  private static byte[] bytes(long seed, int size) {
    var bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** Sends all in pieces of random size through an echo and gives back what came. */
  private byte[] echoed(BlockingStream stream, byte[] bytes, long seed) throws Exception {
    var random = new Random(seed);
    var sending =
        tasks.fork(
            "send",
            () -> {
              try (var output = stream.input()) {
                for (int at = 0; at < bytes.length; ) {
                  int size = Math.min(bytes.length - at, 1 + random.nextInt(9_000));
                  output.write(bytes, at, size);
                  at += size;
                }
              }
              return true;
            });
    byte[] came = stream.output(0).readAllBytes();
    sending.get();
    return came;
  }

  private void echoesAll(FakeAgent agent, Link link, int size, long seed) throws Exception {
    byte[] bytes = bytes(seed, size);
    var stream = link.open(ECHO);

    assertArrayEquals(bytes, echoed(stream, bytes, seed));
    assertEquals(Json.object("exit", 0), stream.awaitClose());
    assertEquals(List.of(), agent.failures().all());
    assertTrue(
        states.all().stream().noneMatch(state -> state.toString().contains("protocol")),
        () -> states.all().toString());
  }

  @Test
  void resumesWhenThePipeIsCutAfterAnyFrameTheAgentHasReceived() throws Exception {
    for (int frames = 0; frames < 60; frames++) {
      var agent = new FakeAgent(tasks, GOOD.cutAfterReceived(frames));
      try (Link link = link(agent, Clock.system())) {
        connectPatiently(link);
        echoesAll(agent, link, 150_000, frames);
      }
    }
  }

  @Test
  void resumesWhenThePipeIsCutAfterAnyFrameTheAgentHasSent() throws Exception {
    for (int frames = 0; frames < 60; frames++) {
      var agent = new FakeAgent(tasks, GOOD.cutAfterSent(frames));
      try (Link link = link(agent, Clock.system())) {
        connectPatiently(link);
        echoesAll(agent, link, 150_000, frames);
      }
    }
  }

  /** The very first pipe may be cut before WELCOME; then it is the caller who tries again. */
  private static void connectPatiently(Link link) throws Exception {
    try {
      link.connect();
    } catch (GpushException | IOException first) {
      link.connect();
    }
  }

  static LongStream seeds() {
    return new Random(Long.getLong("gpush.seed", new Random().nextLong())).longs(20);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void resumesAfterCutsAtAnyByte(long seed) throws Exception {
    var random = new Random(seed);
    var agent = new FakeAgent(tasks, GOOD);
    agent.next(new FakePipe());
    Link link = connected(agent);
    for (int pipe = 0; pipe < 20; pipe++) {
      agent.next(new FakePipe(500 + random.nextInt(60_000), 500 + random.nextInt(60_000)));
    }
    link.renewPipe();

    var other = tasks.fork("other", () -> echoed(link.open(ECHO), bytes(seed + 1, 300_000), seed));
    echoesAll(agent, link, 300_000, seed);

    assertArrayEquals(bytes(seed + 1, 300_000), other.get());
  }

  @Test
  void dropsWhatItHasAlready() throws Exception {
    var agent = new FakeAgent(tasks, GOOD.replayingEverything().cutAfterReceived(12));

    echoesAll(agent, connected(agent), 300_000, 5);
  }

  @Test
  void saysByeAtAGapAndGivesUpAfterThree() throws Exception {
    var agent = new FakeAgent(tasks, GOOD.skipping(3));
    Link link = connected(agent);

    var stream = link.open(ECHO);
    stream.input().write(bytes(1, 100));
    stream.input().write(bytes(2, 100));

    Frame bye = agent.received().await(frame -> frame.kind() == FrameKind.BYE);
    assertEquals("protocol", bye.json().text("code").orElse(""));
    assertEquals("gap", bye.json().object("facts").text("rule").orElse(""));
    var over = assertInstanceOf(LinkState.Over.class, states.await(LinkState::isFinal));
    assertTrue(over.reason().startsWith("protocol: gap"), over.reason());
    assertEquals("link-over", stream.awaitClose().text("code").orElse(""));
  }

  /** Found under load: writing failed first, and closing the pipe lost the BYE that was in it. */
  @Test
  void hearsByeReleasedThoughWritingHasFailed() throws Exception {
    var pipe = new FakePipe();
    var agent = new FrameWriter(pipe.agentOutput());
    agent.write(Frame.ofJson(FrameKind.WELCOME, 0, 0, Json.object("agent", "a", "last", 0)));
    agent.flush();
    Link link = link(() -> pipe, new FakeClock());
    link.connect();

    pipe.breakInput();
    link.open(ECHO);
    pipe.awaitFailedWrite();
    agent.write(Frame.ofJson(FrameKind.BYE, 0, 0, Json.object("code", "released")));
    agent.flush();

    assertEquals(new LinkState.Over("released"), states.await(LinkState::isFinal));
  }

  @Test
  void neverSendsMoreThanItsCredit() throws Exception {
    // The fake agent fails the test at the first byte beyond.
    var agent = new FakeAgent(tasks, new FakeAgent.Habits(false, -1, -1, -1, 1_000));

    echoesAll(agent, connected(agent), 50_000, 3);
  }

  @Test
  void tryingTakesWhatCreditAllowsAndTellsWhenThereIsMore() throws Exception {
    var agent = new FakeAgent(tasks, new FakeAgent.Habits(false, -1, -1, -1, 1_000));
    Link link = connected(agent);
    var opened = new CountDownLatch(1);
    var stream = link.open(Json.object("type", "mute"), made -> new FakeReceiver(made, opened));
    opened.await();

    var bytes = ByteBuffer.wrap(new byte[3_000]);

    assertEquals(1_000, stream.trySend(0, bytes));
    assertEquals(1_000, bytes.position());
    assertEquals(0, stream.trySend(0, bytes));
    var writable = new CountDownLatch(1);
    stream.onWritable(writable::countDown);
    assertEquals(1, writable.getCount());
    stream.close(Json.object());
    writable.await();
    assertThrows(StreamClosedException.class, () -> stream.trySend(0, bytes));
  }

  @Test
  void aStoppedReaderDoesNotStopAnother() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    Link link = connected(agent);
    var unread = link.open(Json.object("type", "flood"));
    unread.awaitOpened();

    echoesAll(agent, link, 2_000_000, 9);

    assertTrue(unread.output(0).available() <= LinkLimits.DEFAULT_WINDOW);
    assertEquals(64_000, unread.output(0).readNBytes(64_000).length);
  }

  @Test
  void aRefusalIsAFailureWithItsCode() throws Exception {
    var stream = connected(new FakeAgent(tasks, GOOD)).open(Json.object("type", "nothing"));

    var refused = assertThrows(GpushException.class, stream::awaitOpened);

    assertEquals(
        new AgentFailure.Refused("nothing", "not-found", Json.object()), refused.failure());
  }

  @Test
  void aStreamWhoseOpeningIsNotAwaitedToTheEndIsClosed() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    Link link = link(agent, Clock.system());
    Thread.currentThread().interrupt();

    assertThrows(InterruptedException.class, () -> link.openReady(ECHO));

    link.connect();
    link.openReady(ECHO).close();
    assertEquals(
        1, agent.received().all().stream().filter(frame -> frame.kind() == FrameKind.OPEN).count());
  }

  @Test
  void streamsOpenedWhileCutOpenLater() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    Link link = link(agent, Clock.system());
    var early = link.open(ECHO);

    link.connect();

    early.input().write(65);
    assertEquals(65, early.output(0).read());
  }

  @Test
  void goesOnConnectingForThoseThatWaitAfterTheFirstAttemptHasFailed() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    var attempts = new AtomicInteger();
    Link link =
        link(
            () -> {
              if (attempts.incrementAndGet() <= 3) {
                throw new IOException("it is off");
              }
              return agent.open();
            },
            Clock.system());
    assertThrows(IOException.class, link::connect);
    assertEquals(new LinkState.Idle(), link.state());
    var waiting = link.open(ECHO);

    link.keepConnecting();

    waiting.awaitOpened();
    assertEquals(new LinkState.Cut("it is off"), states.all().getFirst());
    assertEquals(4, attempts.get());
  }

  @Test
  void whatIsClosedWhileCutIsNeverAskedFor() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    Link link = link(agent, Clock.system());
    var cancelled = link.open(ECHO);
    cancelled.close();

    link.connect();

    assertEquals(Json.object(), cancelled.awaitClose());
    link.open(ECHO).awaitOpened();
    assertEquals(
        1, agent.received().all().stream().filter(frame -> frame.kind() == FrameKind.OPEN).count());
  }

  @Test
  void itsUserLearnsOfTheEndThoughThePipeIsSilent() throws Exception {
    var silent = new FakePipe();
    var writer = new FrameWriter(silent.agentOutput());
    writer.write(Frame.ofJson(FrameKind.WELCOME, 0, 0, Json.object("agent", "a")));
    writer.flush();
    Link link = link(() -> silent, Clock.system());
    link.connect();
    // More than the pipe holds, so nothing that comes later is written.
    link.open(ECHO.with("filler", "x".repeat(200_000)));
    var behind = link.open(ECHO);

    behind.close();

    assertEquals(Json.object(), behind.awaitClose());
    silent.close();
  }

  @Test
  void anotherAgentEndsTheStreamsOfTheOldOne() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    var first = new FakePipe();
    agent.next(first);
    var hasRestarted = new CountDownLatch(1);
    var opened = new AtomicInteger();
    Link link =
        link(
            () -> {
              if (opened.getAndIncrement() > 0) {
                hasRestarted.await();
              }
              return agent.open();
            },
            Clock.system());
    link.connect();
    var old = link.open(ECHO);
    old.awaitOpened();

    first.close();
    states.await(1, LinkState.Cut.class::isInstance);
    agent.restart();
    var waiting = link.open(ECHO);
    hasRestarted.countDown();

    assertEquals("agent-restarted", old.awaitClose().text("code").orElse(""));
    assertThrows(StreamClosedException.class, () -> old.output(0).read());
    waiting.input().write(65);
    assertEquals(65, waiting.output(0).read());
    assertEquals(
        2,
        states.await(2, state -> state instanceof LinkState.Up(_, var resumed) && !resumed).size());
  }

  @Test
  void saysWhileItTriesThatThereIsNoAgentAnyMore() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    var first = new FakePipe();
    agent.next(first);
    var isThere = new AtomicBoolean(true);
    Link link =
        link(
            () -> {
              if (!isThere.get()) {
                throw new GpushException(new AgentFailure.NotThere("g", 3));
              }
              return agent.open();
            },
            Clock.system());
    link.connect();

    isThere.set(false);
    first.close();

    states.await(2, new LinkState.Cut("no agent on the node")::equals);
    assertEquals(new LinkState.Cut("no agent on the node"), link.state());
    isThere.set(true);
    states.await(2, LinkState.Up.class::isInstance);
  }

  @Test
  void messagesComeBackInOrder() throws Exception {
    var stream = connected(new FakeAgent(tasks, GOOD)).open(ECHO);

    for (int i = 0; i < 300; i++) {
      stream.stream().message(Json.object("i", i));
    }

    for (int i = 0; i < 300; i++) {
      assertEquals(Json.object("i", i), stream.awaitMessage().orElseThrow());
    }
  }

  @Test
  void aLinkHasALimitOfStreams() throws Exception {
    Link link = connected(new FakeAgent(tasks, GOOD));
    for (int i = 0; i < LinkLimits.MAX_STREAMS; i++) {
      link.open(ECHO);
    }

    var refused = assertThrows(GpushException.class, () -> link.open(ECHO));

    assertEquals("limit", assertInstanceOf(AgentFailure.Refused.class, refused.failure()).code());
  }

  @Test
  void numbersAreFreeAgainWhenBothSidesHaveClosed() throws Exception {
    Link link = connected(new FakeAgent(tasks, GOOD));

    for (int i = 0; i < 2 * LinkLimits.MAX_STREAMS; i++) {
      var stream = link.open(ECHO);
      stream.close();
      stream.awaitClose();
    }
  }

  @Test
  void pingsAgentsThatAreSilent() throws Exception {
    var clock = new FakeClock();
    var agent = new FakeAgent(tasks, GOOD);
    Link link = link(agent, clock);
    link.connect();

    // What the agent sent before may arrive only now, and is a sign of life too.
    do {
      clock.advance(Duration.ofSeconds(6));
      link.open(ECHO).awaitOpened();
    } while (!kinds(agent).contains(FrameKind.PING));
  }

  /**
   * Whether the writer waits for long or has just sent an ACK: a PING would bring it only later,
   * and none is due here.
   */
  @Test
  void acknowledgesSingleFramesSoon() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    LinkTiming usual = LinkTiming.usual();
    var timing =
        new LinkTiming(
            Duration.ofDays(1),
            Duration.ofDays(1),
            Duration.ofDays(1),
            usual.greeting(),
            usual.opening(),
            usual.firstPause(),
            usual.lastPause());
    Link link = link(agent, new SteadyClock(), timing);
    link.connect();
    var stream = link.open(ECHO);
    stream.awaitOpened();

    for (int sequence = 2; sequence < 6; sequence++) {
      stream.input().write(65);
      assertEquals(65, stream.output(0).read());
      long wanted = sequence;
      agent.received().await(frame -> frame.kind() == FrameKind.ACK && frame.number() >= wanted);
    }

    assertTrue(agent.received().all().stream().noneMatch(frame -> frame.kind() == FrameKind.PING));
  }

  @Test
  void endsEverythingWhenTheNodeIsGone() throws Exception {
    Link link = connected(new FakeAgent(tasks, GOOD));
    var stream = link.open(ECHO);
    stream.awaitOpened();

    link.gone("preempted");

    assertEquals(new LinkState.Over("preempted"), states.await(LinkState::isFinal));
    assertEquals("link-over", stream.awaitClose().text("code").orElse(""));
    var over = assertThrows(GpushException.class, () -> link.open(ECHO));
    assertEquals(new AgentFailure.LinkOver(3, "preempted"), over.failure());
  }

  @Test
  void closingSaysGoodBye() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    Link link = link(agent, new FakeClock());
    link.connect();

    link.close();
    link.close();

    Frame bye = agent.received().await(frame -> frame.kind() == FrameKind.BYE);
    assertEquals("gateway-stopped", bye.json().text("code").orElse(""));
    assertEquals(new LinkState.Over("closed"), link.state());
  }

  @Test
  void failsToConnectWithWhatThePipesSay() {
    PipeSource none =
        () -> {
          throw new GpushException(new AgentFailure.NotThere("g", 3));
        };
    var identity = new LinkIdentity(3, "me@here", "c".repeat(32), 1);
    var link =
        new Link(
            identity, none, tasks, Clock.system(), new Random(1), LinkTiming.usual(), states::add);
    links.add(link);

    var failed = assertThrows(GpushException.class, link::connect);

    assertEquals(new AgentFailure.NotThere("g", 3), failed.failure());
    assertEquals(new LinkState.Idle(), link.state());
  }

  @Test
  void throughAPipeThatHoldsBackNothingWaitsForAnAnswerThatNobodyGives() throws Exception {
    var agent = new FakeAgent(tasks, GOOD);
    agent.next(FakePipe.holdingBack());
    Link link = connected(agent);

    var stream = link.open(ECHO.with("long", "x".repeat(LinkLimits.ONE_PIECE)));
    stream.awaitOpened();
    stream.input().close();
    stream.awaitClose();

    while (kinds(agent).stream().noneMatch(FrameKind.CLOSE::equals)) {
      LockSupport.parkNanos(1_000_000);
    }
    List<FrameKind> kinds = kinds(agent);
    assertEquals(FrameKind.PING, kinds.get(kinds.indexOf(FrameKind.OPEN) - 1), kinds::toString);
    assertTrue(
        kinds.subList(kinds.indexOf(FrameKind.END), kinds.indexOf(FrameKind.CLOSE)).stream()
            .anyMatch(FrameKind.PING::equals),
        kinds::toString);
  }

  private static List<FrameKind> kinds(FakeAgent agent) {
    return agent.received().all().stream().map(Frame::kind).toList();
  }
}
