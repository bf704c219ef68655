package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.machine.LinkEvent;
import dev.gpush.link.machine.LinkLimits;
import dev.gpush.link.machine.StreamState;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The users of streams at the gateway: what they do, and which events they must get. A sender that
 * finds no room does nothing until an event says that its stream may be written.
 */
final class GatewayUsers {
  private static final int MOST_STREAMS = 12;

  /** One schedule of so many has more streams than that. */
  private static final int CROWD = 25;

  private static final int MOST_CROWD = 150;

  /** More than go in a row on the fast lane. */
  private static final int FIRST_CROWD = 100;

  private static final int MOST_BULK = 600_000;

  /** Four times what is read ahead in such a schedule. */
  private static final int MOST_OUTPUT = 20_000;

  /** A user that sends many urgent messages at once sends up to so many. */
  private static final int MANY_MESSAGES = 200;

  private final Simulation sim;
  private int mostStreams = MOST_STREAMS;
  private boolean isCrowd;
  private boolean hasMuchCredit;

  GatewayUsers(Simulation sim) {
    this.sim = sim;
  }

  void begin() {
    isCrowd = !sim.isBulk && !sim.isCommand && sim.chance(CROWD);
    mostStreams =
        isCrowd ? MOST_CROWD : sim.isBulk || sim.isCommand ? 2 : sim.pick(1, 3, MOST_STREAMS);
    hasMuchCredit = sim.isCommand || sim.chance(3);
    for (int i = isCrowd ? FIRST_CROWD : 1; i > 0; i--) {
      open();
    }
  }

  boolean isCrowd() {
    return isCrowd;
  }

  boolean isFull() {
    return sim.streams.size() >= mostStreams;
  }

  // ---- new streams

  /** A stream with a plan of what both ends send. */
  SimulatedStream plan(boolean isOfAgent, boolean isListener) {
    var stream = new SimulatedStream(sim.streams.size() + 1, isOfAgent, isListener);
    sim.streams.add(stream);
    stream.isRefused = sim.chance(12);
    stream.isNeverRead = sim.chance(6);
    stream.isCall = !isOfAgent && !isListener && sim.chance(isCrowd ? 2 : 6);
    if (stream.isCall) {
      stream.down.plan(0, 0, 1);
      return stream;
    }
    stream.hasSources = !isListener && (sim.isCommand || sim.chance(2));
    for (StreamDirection direction : List.of(stream.up, stream.down)) {
      direction.plan(0, bytes(), messages());
      direction.plan(1, stream.hasSources || sim.chance(3) ? bytes() : 0, 0);
    }
    return stream;
  }

  private int messages() {
    if (sim.chance(isCrowd ? 10 : 20)) {
      return sim.random.nextInt(MANY_MESSAGES);
    }
    return sim.chance(4) ? sim.random.nextInt(8) : 0;
  }

  private long bytes() {
    if (isCrowd) {
      return sim.random.nextInt(sim.chance(10) ? 20_000 : 20);
    }
    if (sim.isCommand) {
      return sim.random.nextInt(MOST_OUTPUT);
    }
    if (sim.isBulk) {
      return sim.random.nextInt(MOST_BULK);
    }
    return sim.random.nextInt(sim.pick(1, 50, 5_000, 5_000, 60_000, 200_000) + 1);
  }

  private void open() {
    SimulatedStream stream = plan(false, sim.chance(5));
    stream.agentsBefore = sim.agentsKnown;
    int credit = hasMuchCredit ? LinkLimits.MAX_WINDOW : sim.pick(100, 2_000, 65_536, 1 << 20);
    Json.Obj request = Json.object("type", "simulated", "id", stream.id);
    StreamState state = sim.machine().reserve(credit);
    stream.state = Optional.of(state);
    stream.isKnownHere = true;
    sim.register(state, stream);
    sim.machine().announce(state, request);
  }

  // ---- what users do

  void act() {
    if (!isFull() && sim.chance(4)) {
      open();
    } else if (!sim.streams.isEmpty()) {
      SimulatedStream stream = sim.streams.get(sim.random.nextInt(sim.streams.size()));
      for (int i = 0; i < 2; i++) {
        act(stream);
      }
    }
    sim.verifyMemory();
  }

  void actAll() {
    for (SimulatedStream stream : List.copyOf(sim.streams)) {
      act(stream);
    }
  }

  private void act(SimulatedStream stream) {
    if (!stream.isKnownHere) {
      return;
    }
    consume(stream, sim.isHealed || !stream.isNeverRead);
    if (!stream.isUsableHere()) {
      return;
    }
    StreamState state = stream.state.orElseThrow();
    if (!stream.isCall) {
      int channel = sim.random.nextInt(2);
      send(stream, state, channel);
      sendMessages(stream, state);
      end(stream, state, channel);
    }
    close(stream, state);
  }

  private void send(SimulatedStream stream, StreamState state, int channel) {
    if (stream.isWaiting[channel]) {
      Simulation.require(
          !sim.machine().isWritable(state), () -> "a sender waits and got no event: " + stream);
      return;
    }
    if (stream.up.left(channel) == 0) {
      return;
    }
    int most = sim.isHealed ? 100_000 : sim.pick(1, 100, 5_000, 100_000);
    ByteBuffer bytes = stream.up.next(channel, most);
    int count = sim.machine().send(state, channel, bytes);
    stream.up.sent(channel, count);
    stream.isWaiting[channel] = count == 0;
  }

  private void sendMessages(SimulatedStream stream, StreamState state) {
    if (stream.up.messagesLeft() == 0 || (!sim.isHealed && sim.chance(2))) {
      return;
    }
    for (int i = sim.messagesAtOnce(stream.up.messagesLeft()); i > 0; i--) {
      boolean urgent = sim.isUrgent(stream.up.messagesLeft());
      Json.Obj message = stream.up.message(urgent);
      Frame frame = Frame.ofJson(FrameKind.MESSAGE, urgent ? 1 : 0, state.number(), message);
      Simulation.require(sim.machine().message(state, frame), "too many messages");
    }
  }

  private void end(SimulatedStream stream, StreamState state, int channel) {
    boolean isDue = stream.up.left(channel) == 0 && sim.chance(sim.isHealed ? 1 : 4);
    if (!stream.up.hasEnded(channel) && (isDue || sim.chanceDuringFaults(300))) {
      stream.up.end(channel);
      sim.machine().end(state, channel);
    }
  }

  private void close(SimulatedStream stream, StreamState state) {
    boolean isComplete =
        !stream.isCall
            && stream.up.isAllSent()
            && stream.up.hasEnded(0)
            && stream.up.hasEnded(1)
            && (stream.down.hasReceivedBothEnds()
                || (sim.isHealed && stream.isListener && !hasAccepted()));
    if (isComplete && sim.chance(2) || sim.chanceDuringFaults(150)) {
      stream.closedHere = true;
      stream.reasonHere = sim.chance(2) ? Json.object() : Json.object("code", "enough", "facts", 1);
      Simulation.require(sim.machine().close(state, stream.reasonHere), "closed twice");
      sim.settle();
    }
  }

  /** Whether a stream is open that the agent has opened. */
  private boolean hasAccepted() {
    return sim.streams.stream().anyMatch(stream -> stream.isOfAgent && stream.isUsableThere());
  }

  private void consume(SimulatedStream stream, boolean reads) {
    long backlog = stream.down.backlog();
    if (backlog > 0 && reads) {
      int count = (int) (sim.isHealed ? backlog : 1 + sim.random.nextLong(backlog));
      stream.down.consume(count);
      if (!sim.isMutated(Mutation.FORGET_CONSUMED)) {
        sim.machine().consumed(stream.state.orElseThrow(), count);
      }
    }
  }

  // ---- events for users

  void offered(LinkEvent.Offered offered) {
    SimulatedStream stream = sim.byId(offered.request());
    StreamState state = offered.stream();
    stream.state = Optional.of(state);
    sim.register(state, stream);
    boolean isThere = offered.listener().isPresent();
    if (isThere && !stream.isRefused) {
      stream.isKnownHere = true;
      stream.wasOpened = true;
      if (sim.chance(2)) {
        sendMessages(stream, state);
      }
      sim.machine().accept(state);
    } else {
      stream.closeCameHere = true;
      sim.machine().refuse(state, "not-found");
    }
  }

  void handle(SimulatedStream stream, LinkEvent.OfStream event) {
    switch (event) {
      case LinkEvent.Opened _ -> {
        Simulation.require(!stream.wasOpened && stream.isUsableHere(), () -> "OPENED of " + stream);
        stream.wasOpened = true;
        stream.wakeSenders();
      }
      case LinkEvent.Data(_, int channel, var bytes) -> {
        Simulation.require(stream.isUsableHere(), () -> "DATA of " + stream);
        boolean isOther = sim.isMutated(Mutation.OTHER_CHANNEL);
        stream.down.received(isOther ? 1 - channel : channel, bytes);
        if (sim.isMutated(Mutation.REPEAT_DATA)) {
          stream.down.received(channel, bytes);
        }
      }
      case LinkEvent.Ended(_, int channel) -> {
        Simulation.require(stream.isUsableHere(), () -> "END of " + stream);
        stream.down.receivedEnd(channel);
      }
      case LinkEvent.Message(_, var message) -> {
        Simulation.require(stream.isUsableHere(), () -> "MESSAGE of " + stream);
        stream.down.receivedMessage(message);
      }
      case LinkEvent.Closed(_, var reason) -> closed(stream, reason);
      case LinkEvent.Writable _ -> stream.wakeSenders();
      case LinkEvent.Offered _ -> throw new AssertionError("offered twice");
    }
  }

  private void closed(SimulatedStream stream, Json.Obj reason) {
    Simulation.require(!stream.closeCameHere, () -> "CLOSE twice of " + stream);
    stream.closeCameHere = true;
    String code = reason.text("code").orElse("");
    if (code.equals("agent-restarted")) {
      Simulation.require(sim.agents > stream.agentsBefore, () -> "no agent restarted: " + stream);
      return;
    }
    Simulation.require(
        reason.equals(stream.reasonThere), () -> "closed by " + reason.write() + ": " + stream);
    stream.isWithdrawn = !stream.isKnownThere;
    Simulation.require(
        !stream.isWithdrawn || stream.closedHere, () -> "withdrawn, and not closed: " + stream);
    if (!stream.closedHere) {
      stream.down.verifyComplete();
    }
  }

  /** The agent learns of it with the next gateway's HELLO. */
  void gatewayIsGone() {
    for (SimulatedStream stream : sim.streams) {
      stream.isKnownHere = false;
      stream.closeCameHere = true;
      stream.isGoneThere = true;
    }
  }

  boolean areDone() {
    return sim.streams.stream().noneMatch(stream -> stream.isKnownHere && !stream.closeCameHere);
  }
}
