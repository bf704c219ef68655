package dev.gpush.link.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The life of pipes, without pipes; the streams are LinkSimulatorTest's. */
final class LinkMachineTest {
  private static final long SECOND = 1_000_000_000L;

  private LinkMachine machine = machine(LinkLimits.POOL_BYTES);

  private static LinkMachine machine(long pool) {
    return new LinkMachine(
        Json.object("version", 2),
        new LinkWaits(
            5 * SECOND,
            30 * SECOND,
            2 * SECOND,
            20 * SECOND,
            900 * SECOND,
            60 * SECOND,
            SECOND / 5,
            5 * SECOND),
        new Random(1),
        pool,
        0);
  }

  private List<String> events() {
    var all = new ArrayList<String>();
    while (machine.hasEvents()) {
      all.add(
          switch (machine.nextEvent().orElseThrow()) {
            case LinkEvent.Up(_, boolean resumed) -> resumed ? "up again" : "up";
            case LinkEvent.Cut(var reason) -> "cut: " + reason;
            case LinkEvent.Over(var reason) -> "over: " + reason;
            case LinkEvent.NotConnected(var reason) -> "not connected: " + reason;
            case LinkEvent.Closed(_, var reason) -> reason.text("code").orElse("");
            case LinkEvent other -> other.getClass().getSimpleName();
          });
    }
    return all;
  }

  private List<PipeCommand> commands() {
    var all = new ArrayList<PipeCommand>();
    while (machine.hasCommands()) {
      all.add(machine.nextCommand().orElseThrow());
    }
    return all;
  }

  private void hears(int pipe, FrameKind kind, Json.Obj json, long nanos) {
    machine.received(pipe, Frame.ofJson(kind, 0, 0, json), json, nanos);
  }

  private List<FrameKind> written(int pipe, long nanos) {
    var batch = new ArrayList<Frame>();
    machine.take(pipe, batch, nanos);
    return batch.stream().map(Frame::kind).toList();
  }

  @Test
  void endsWhenTheAgentSpeaksAnotherVersion() {
    machine.connect(0);
    commands();
    machine.pipeOpened(1, false, 0);
    written(1, 0);

    hears(1, FrameKind.BYE, Json.object("code", "version", "facts", Json.object("version", 1)), 0);

    assertEquals(List.of("OtherVersion"), events());
  }

  private void connect() {
    machine.connect(0);
    assertEquals(List.of(new PipeCommand.Open(1)), commands());
    machine.pipeOpened(1, false, 0);
    assertEquals(List.of(FrameKind.HELLO), written(1, 0));
    hears(1, FrameKind.WELCOME, Json.object("agent", "a"), 0);
    assertEquals(List.of("up"), events());
  }

  @Test
  void aPipeThatEndsIsFollowedByAnotherAfterAPause() {
    connect();

    machine.pipeEnded(1, "reset", SECOND);

    assertEquals(List.of("cut: reset"), events());
    assertTrue(machine.untilTick(SECOND) > 0);
    machine.tick(SECOND + machine.untilTick(SECOND));
    assertEquals(List.of(new PipeCommand.Open(2)), commands());
  }

  @Test
  void anotherPipeIsOpenedBesideASilentOneAndTakesItsPlace() {
    connect();
    long silent = machine.untilTick(0);
    assertEquals(30 * SECOND, silent);

    machine.tick(silent);

    assertEquals(List.of("cut: silence"), events());
    assertEquals(List.of(new PipeCommand.Open(2)), commands());
    machine.pipeOpened(2, false, silent);
    assertEquals(List.of(new PipeCommand.Close(1)), commands());
    assertEquals(1, machine.pipeInUse());
    machine.pipeEnded(1, "closed", silent);
    assertEquals(2, machine.pipeInUse());
    assertEquals(List.of(FrameKind.HELLO), written(2, silent));
  }

  @Test
  void anAnswerOnTheSilentPipeEndsTheOpeningBesideIt() {
    connect();
    machine.tick(30 * SECOND);
    commands();
    events();

    machine.received(1, Frame.ofNumber(FrameKind.PONG, 0, 1), Json.object(), 31 * SECOND);

    assertEquals(List.of("up again"), events());
    assertEquals(List.of(new PipeCommand.Close(2)), commands());
  }

  @Test
  void aNewPipeIsWantedWithoutAPause() {
    connect();

    machine.renewPipe(SECOND);

    assertEquals(List.of(new PipeCommand.Close(1)), commands());
    machine.pipeEnded(1, "closed", SECOND);
    assertEquals(List.of("cut: a new pipe is wanted"), events());
    assertEquals(0, machine.untilTick(SECOND));
    machine.tick(SECOND);
    assertEquals(List.of(new PipeCommand.Open(2)), commands());
  }

  @Test
  void goodByeIsWrittenBeforeTheEnd() {
    connect();
    StreamState stream = machine.reserve(100);
    machine.announce(stream, Json.object("type", "exec"));

    machine.leave("gateway-stopped", "closed", SECOND);

    assertFalse(machine.isOver());
    assertEquals(List.of(FrameKind.BYE), written(1, SECOND));
    assertFalse(machine.take(1, new ArrayList<>(), SECOND));
    assertEquals(List.of("over: closed", "link-over"), events());
    assertEquals(List.of(new PipeCommand.Close(1)), commands());
  }

  @Test
  void goodByeIsNotWaitedForLong() {
    connect();
    machine.leave("gateway-stopped", "closed", 0);

    machine.tick(machine.untilTick(0));

    assertEquals(List.of("over: closed"), events());
  }

  /** A stream that the agent has accepted with much credit, and nothing of it waits. */
  private StreamState open(int received) {
    StreamState stream = machine.reserve(100);
    machine.announce(stream, Json.object("type", "exec"));
    written(1, 0);
    Json.Obj answer = Json.object("credit", 1_000_000);
    Frame opened = Frame.ofJson(FrameKind.OPENED, 0, stream.number(), answer).numbered(received);
    machine.received(1, opened, answer, 0);
    events();
    return stream;
  }

  /** Sends and writes until there is no room; returns the number of frames. */
  private int fill(StreamState stream) {
    int frames = 0;
    while (machine.send(stream, 0, ByteBuffer.allocate(1_000)) > 0) {
      written(1, 0);
      frames++;
    }
    return frames;
  }

  /** Found by the simulator: they waited for the next credit, which may never come. */
  @Test
  void sendersGoOnWhenTheAnswerToHelloHasAcknowledgedEnough() {
    machine = machine(20_000);
    connect();
    StreamState stream = open(1);
    int frames = fill(stream);
    assertFalse(machine.isWritable(stream));
    machine.pipeEnded(1, "reset", SECOND);
    machine.tick(10 * SECOND);
    machine.pipeOpened(2, false, 10 * SECOND);
    written(2, 10 * SECOND);
    events();

    Json.Obj welcome = Json.object("agent", "a", "resumed", true, "last", 1 + frames);
    hears(2, FrameKind.WELCOME, welcome, 10 * SECOND);

    assertTrue(machine.isWritable(stream));
    assertEquals(List.of("Writable", "up again"), events());
  }

  @Test
  void aStreamWhoseOwnShareIsAcknowledgedGoesOnThoughThePoolIsFull() {
    machine = machine(20_000);
    connect();
    StreamState keys = open(1);
    StreamState bulk = open(2);
    fill(keys);
    fill(bulk);
    assertFalse(machine.isWritable(keys));

    // Both OPEN, and the first DATA of the first stream.
    machine.received(1, Frame.ofNumber(FrameKind.ACK, 0, 6), Json.object(), 0);

    assertTrue(machine.isWritable(keys));
    assertFalse(machine.isWritable(bulk));
    assertEquals(List.of("Writable"), events());
  }

  @Test
  void anotherAgentHearsNothingOfStreamsThatItNeverOpened() {
    connect();
    StreamState ended = open(1);
    StreamState closed = open(2);
    machine.pipeEnded(1, "reset", SECOND);
    machine.tick(SECOND + machine.untilTick(SECOND));
    machine.pipeOpened(2, false, 2 * SECOND);
    assertEquals(List.of(FrameKind.HELLO), written(2, 2 * SECOND));
    hears(2, FrameKind.WELCOME, Json.object("agent", "b"), 2 * SECOND);

    machine.end(ended, 0);
    machine.close(closed, Json.object());

    assertTrue(ended.isClosed() && closed.isClosed());
    assertEquals(List.of(), written(2, 3 * SECOND));
  }

  @Test
  void noAgentHearsOfAStreamThatWasClosedBeforeAnythingWasWritten() {
    StreamState early = machine.reserve(100);
    machine.close(early, Json.object());
    machine.announce(early, Json.object("type", "exec"));
    StreamState later = machine.reserve(100);
    machine.announce(later, Json.object("type", "exec"));
    machine.message(later, Frame.ofJson(FrameKind.MESSAGE, 1, later.number(), Json.object()));
    machine.end(later, 0);

    assertTrue(machine.close(later, Json.object()));

    assertEquals(List.of("", ""), events());
    assertEquals(0, machine.openStreams());
    assertEquals(0, machine.windowBytes());
    connect();
    assertEquals(List.of(), written(1, 0));
  }

  @Test
  void aStreamWhoseOpenWasWrittenIsNotWithdrawn() {
    connect();
    StreamState stream = machine.reserve(100);
    machine.announce(stream, Json.object("type", "exec"));
    assertEquals(List.of(FrameKind.OPEN), written(1, 0));

    assertFalse(machine.withdraw(stream));

    assertFalse(stream.isClosed());
    machine.close(stream, Json.object());
    assertEquals(List.of(), events());
    assertEquals(List.of(), written(1, 0));
    Json.Obj answer = Json.object("credit", 10);
    Frame opened = Frame.ofJson(FrameKind.OPENED, 0, stream.number(), answer).numbered(1);
    machine.received(1, opened, answer, 0);
    assertEquals(List.of(FrameKind.CLOSE), written(1, 0));
  }
}
