package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.simulator.agent.AgentSide;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The owners of streams at the agent: what they do, and what they must be called for. Some send
 * when they like, as far as there is room; some have two sources, as a command has stdout and
 * stderr; calls are answered and closed at once.
 */
final class StreamOwners {
  /** In a row. */
  private static final int MOST_TURNS = 8;

  private final Simulation sim;
  private final Map<Integer, SimulatedStream> streams = new HashMap<>();

  StreamOwners(Simulation sim) {
    this.sim = sim;
  }

  // ---- what they are called for

  void handle(List<AgentSide.OwnerEvent> events) {
    for (AgentSide.OwnerEvent each : events) {
      if (each.kind() == AgentSide.Kind.OFFERED) {
        offered(each);
      } else {
        handle(known(each.stream()), each);
      }
    }
  }

  private void offered(AgentSide.OwnerEvent event) {
    SimulatedStream stream = sim.byId(event.json());
    Simulation.require(!stream.isKnownThere, () -> "OPEN twice of " + stream);
    Simulation.require(!stream.isWithdrawn, () -> "OPEN of what was withdrawn: " + stream);
    stream.number = event.stream();
    stream.isKnownThere = true;
    streams.put(stream.number, stream);
    if (stream.isCall && sim.chance(2)) {
      answer(stream);
    }
  }

  private SimulatedStream known(int number) {
    SimulatedStream stream = streams.get(number);
    if (stream == null) {
      throw new AssertionError("the agent's stream " + number + " is unknown");
    }
    return stream;
  }

  private void handle(SimulatedStream stream, AgentSide.OwnerEvent event) {
    switch (event.kind()) {
      case DATA -> {
        Simulation.require(stream.isUsableThere(), () -> "DATA there of " + stream);
        stream.up.received(event.channel(), ByteBuffer.wrap(event.bytes()));
      }
      case END -> stream.up.receivedEnd(event.channel());
      case MESSAGE -> stream.up.receivedMessage(event.json());
      case OPENED -> {
        Simulation.require(!stream.wasAnswered, () -> "OPENED twice there of " + stream);
        stream.wasAnswered = true;
      }
      case REFUSED -> {
        Simulation.require(!stream.wasAnswered, () -> "REFUSED there of " + stream);
        stream.closeCameThere = true;
      }
      case CLOSE -> {
        Simulation.require(!stream.closeCameThere, () -> "CLOSE twice there of " + stream);
        Simulation.require(
            event.json().equals(stream.reasonHere), () -> "another reason: " + stream);
        stream.closeCameThere = true;
        stream.up.verifyComplete();
      }
      case CUT -> {
        Simulation.require(stream.isGoneThere || !stream.isKnownHere, () -> "cut there: " + stream);
        stream.isGoneThere = true;
      }
      case OFFERED -> throw new AssertionError("offered twice");
    }
  }

  // ---- what they do

  void act() {
    if (sim.users.isCrowd() && sim.chance(20)) {
      actAll();
    } else if (!streams.isEmpty()) {
      act(sim.streams.get(sim.random.nextInt(sim.streams.size())));
    }
  }

  void actAll() {
    for (SimulatedStream stream : List.copyOf(sim.streams)) {
      act(stream);
    }
  }

  private void act(SimulatedStream stream) {
    if (!stream.isKnownThere || stream.isGoneThere) {
      return;
    }
    consume(stream);
    if (!stream.isUsableThere()) {
      return;
    }
    if (!stream.wasAnswered) {
      answer(stream);
      if (!stream.isUsableThere() || !stream.wasAnswered || sim.chance(2)) {
        return;
      }
    }
    if (!stream.hasSources) {
      send(stream, sim.random.nextInt(2));
    } else if (stream.wasAnswered) {
      readSources(stream);
    }
    sendMessages(stream);
    close(stream);
    if (stream.isListener && !sim.users.isFull() && !sim.isHealed && sim.chance(2)) {
      open(stream);
    }
  }

  private void consume(SimulatedStream stream) {
    long backlog = stream.up.backlog();
    if (backlog > 0 && (sim.isHealed || !stream.isNeverRead)) {
      int count = (int) (sim.isHealed ? backlog : 1 + sim.random.nextLong(backlog));
      stream.up.consume(count);
      sim.agent.consumed(stream.number, count, sim.now);
    }
  }

  private void answer(SimulatedStream stream) {
    if (stream.isOfAgent) {
      return;
    }
    if (stream.isRefused) {
      stream.closedThere = true;
      stream.reasonThere = Json.object("code", "denied", "facts", Json.object());
      sim.agent.refuse(stream.number, "denied");
      return;
    }
    stream.wasAnswered = true;
    sim.agent.accept(stream.number);
    if (stream.isCall) {
      sim.agent.message(stream.number, stream.down.message(false), false);
      stream.closedThere = true;
      sim.agent.closeStream(stream.number, stream.reasonThere);
    } else if (stream.hasSources) {
      sim.agent.startSources(stream.number);
    }
  }

  private void send(SimulatedStream stream, int channel) {
    if (stream.down.hasEnded(channel)) {
      return;
    }
    if (stream.down.left(channel) > 0) {
      int room = sim.agent.room(stream.number);
      byte[] bytes = stream.down.nextBytes(channel, Math.min(room, most()));
      sim.agent.send(stream.number, channel, bytes);
      stream.down.sent(channel, bytes.length);
    }
    if (isEndDue(stream, channel) || sim.chanceDuringFaults(300)) {
      stream.down.end(channel);
      sim.agent.end(stream.number, channel);
    }
  }

  /** Turns of the agent's loop without one in which the pipe takes bytes. */
  private void readSources(SimulatedStream stream) {
    if (sim.chanceDuringFaults(sim.isCommand ? 10 : 300)) {
      // What writes to it has ended, and to the other one not.
      stream.down.dropRest(sim.random.nextInt(2));
    }
    int turns = sim.chance(2) ? 1 : 1 + sim.random.nextInt(MOST_TURNS);
    for (int turn = 0; turn < turns; turn++) {
      for (int channel = 0; channel < 2; channel++) {
        if (!stream.down.hasEnded(channel) && sim.chance(2)) {
          readSource(stream, channel);
        }
      }
    }
  }

  /** What writes to the source has written something, or has ended. */
  private void readSource(SimulatedStream stream, int channel) {
    byte[] bytes = stream.down.nextBytes(channel, most());
    boolean isAtEnd = bytes.length == stream.down.left(channel);
    if (bytes.length == 0 && !isEndDue(stream, channel)) {
      return;
    }
    int count = sim.agent.readSource(stream.number, channel, bytes, isAtEnd);
    if (count == AgentSide.AT_END) {
      stream.down.end(channel);
    } else if (count > 0) {
      stream.down.sent(channel, count);
    }
  }

  private int most() {
    return sim.isHealed ? 100_000 : sim.pick(1, 100, 5_000, 100_000);
  }

  private boolean isEndDue(SimulatedStream stream, int channel) {
    return stream.down.left(channel) == 0 && sim.chance(sim.isHealed ? 1 : 4);
  }

  private void sendMessages(SimulatedStream stream) {
    if (stream.down.messagesLeft() == 0 || (!sim.isHealed && sim.chance(2))) {
      return;
    }
    for (int i = sim.messagesAtOnce(stream.down.messagesLeft()); i > 0; i--) {
      boolean urgent = sim.isUrgent(stream.down.messagesLeft());
      sim.agent.message(stream.number, stream.down.message(urgent), urgent);
    }
  }

  private void close(SimulatedStream stream) {
    boolean isComplete =
        stream.down.isAllSent()
            && stream.down.hasEnded(0)
            && stream.down.hasEnded(1)
            && !stream.isListener;
    if (isComplete && sim.chance(3) || sim.chanceDuringFaults(150)) {
      stream.closedThere = true;
      stream.reasonThere = sim.chance(3) ? Json.object() : Json.object("exit", stream.id);
      sim.agent.closeStream(stream.number, stream.reasonThere);
    }
  }

  private void open(SimulatedStream listener) {
    SimulatedStream stream = sim.users.plan(true, false);
    stream.agentsBefore = sim.agents;
    Json.Obj request =
        Json.object("type", "accepted", "listener", listener.number, "id", stream.id);
    stream.isKnownThere = true;
    stream.number = sim.agent.open(request, stream.hasSources);
    streams.put(stream.number, stream);
  }

  void agentIsGone() {
    streams.clear();
    for (SimulatedStream stream : sim.streams) {
      stream.isGoneThere |= stream.isKnownThere;
    }
  }
}
