package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameCodec;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.frame.ProtocolException;
import dev.gpush.link.machine.LinkEvent;
import dev.gpush.link.machine.LinkLimits;
import dev.gpush.link.machine.LinkMachine;
import dev.gpush.link.machine.LinkWaits;
import dev.gpush.link.machine.PipeCommand;
import dev.gpush.link.machine.StreamState;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What goes between the gateway's machine, its pipes and its users: what the driver does, without
 * threads.
 */
final class GatewayEnd {
  private static final LinkWaits WAITS =
      new LinkWaits(
          5 * Simulation.SECOND,
          30 * Simulation.SECOND,
          2 * Simulation.SECOND,
          20 * Simulation.SECOND,
          60 * Simulation.SECOND,
          60 * Simulation.SECOND,
          200 * Simulation.MILLI,
          5 * Simulation.SECOND);

  /** A pipe that is being opened. */
  private record Opening(int pipe, long at, boolean works) {}

  private final Simulation sim;
  private final FrameCodec codec = new FrameCodec();
  private final List<Opening> openings = new ArrayList<>();
  private final Map<StreamState, Talk> byStream = new HashMap<>();
  private final ArrayList<Frame> batch = new ArrayList<>();
  private LinkMachine machine;
  private boolean isReplaying;

  GatewayEnd(Simulation sim) {
    this.sim = sim;
    this.machine = newMachine();
  }

  private LinkMachine newMachine() {
    sim.gateways++;
    Json.Obj identity =
        Json.object(
            "version",
            1,
            "minor",
            0,
            "holder",
            "me",
            "term",
            1,
            "incarnation",
            String.format("%032x", sim.gateways),
            "capabilities",
            List.of());
    var made = new LinkMachine(identity, WAITS, sim.random, sim.poolHere, sim.now);
    made.connect(sim.now);
    return made;
  }

  /** The process ends without a word, and another begins. */
  void restart() {
    openings.clear();
    byStream.clear();
    sim.agentsKnown = 0;
    machine = newMachine();
    settle();
  }

  LinkMachine machine() {
    return machine;
  }

  private @Nullable Wire used() {
    return sim.network.find(machine.pipeInUse()).orElse(null);
  }

  // ---- time

  /** Nanoseconds until something is due. */
  long until() {
    long until = machine.untilTick(sim.now);
    Wire wire = used();
    if (wire != null && wire.hasRoomUp()) {
      until = Math.min(until, machine.untilWrite(wire.number, sim.now));
    }
    for (Opening opening : openings) {
      until = Math.min(until, opening.at() - sim.now);
    }
    return until;
  }

  /** Time has passed. */
  void tick() {
    if (machine.untilTick(sim.now) <= 0 && (sim.isHealed || !sim.chance(4))) {
      machine.tick(sim.now);
      settle();
    }
    for (Opening opening : List.copyOf(openings)) {
      if (opening.at() - sim.now <= 0 && openings.remove(opening)) {
        finish(opening);
      }
    }
  }

  private void finish(Opening opening) {
    if (opening.works()) {
      sim.pipes++;
      Wire wire = sim.network.add(opening.pipe(), sim.chance(4));
      machine.pipeOpened(wire.number, wire.holdsBack, sim.now);
    } else {
      machine.pipeFailed(opening.pipe(), "refused", sim.now);
    }
    settle();
  }

  // ---- what the machine wants

  /** Does it. */
  void settle() {
    while (machine.hasEvents() || machine.hasCommands()) {
      while (machine.hasEvents()) {
        hear(machine.nextEvent().orElseThrow());
      }
      while (machine.hasCommands()) {
        obey(machine.nextCommand().orElseThrow());
      }
    }
  }

  private void obey(PipeCommand command) {
    switch (command) {
      case PipeCommand.Open(int pipe, _) -> {
        boolean isGood = sim.isHealed || !sim.chance(5);
        long delay =
            sim.isHealed
                ? 10 * Simulation.MILLI
                : sim.random.nextLong(sim.pick(10, 2_000) * Simulation.MILLI);
        if (isGood || !sim.chance(3)) {
          openings.add(new Opening(pipe, sim.now + delay, isGood));
        }
      }
      case PipeCommand.Close(int pipe) -> {
        openings.removeIf(opening -> opening.pipe() == pipe);
        Wire wire = sim.network.find(pipe).orElse(null);
        if (wire != null) {
          wire.isClosedHere = true;
          wire.upIsBroken = true;
          wire.down.clear();
          wire.downEnds = true;
          // What was written may come late, or never; the end of it may go unnoticed.
          if (sim.chance(2)) {
            wire.up.clear();
          }
          wire.upEnds = !sim.chance(5);
        }
      }
    }
  }

  private void hear(LinkEvent event) {
    switch (event) {
      case LinkEvent.Up(var welcome, _) -> {
        isReplaying = true;
        sim.agentsKnown = Integer.parseInt(welcome.text("agent").orElseThrow()) - Simulation.AGENT;
      }
      case LinkEvent.Cut(var reason) ->
          Simulation.require(!reason.startsWith("protocol"), "cut by " + reason);
      case LinkEvent.NotConnected _ -> machine.connect(sim.now);
      case LinkEvent.Over _, LinkEvent.Superseded _, LinkEvent.OtherVersion _ ->
          throw new AssertionError("the link ended: " + event);
      case LinkEvent.Offered offered -> sim.users.offered(offered);
      case LinkEvent.OfStream ofStream -> sim.users.hear(talk(ofStream.stream()), ofStream);
    }
  }

  Talk talk(StreamState stream) {
    Talk talk = byStream.get(stream);
    if (talk == null) {
      throw new AssertionError("stream " + stream.number() + " of nobody");
    }
    return talk;
  }

  void know(StreamState stream, Talk talk) {
    byStream.put(stream, talk);
  }

  // ---- frames

  void write() {
    Wire wire = used();
    if (wire == null || !wire.hasRoomUp()) {
      return;
    }
    batch.clear();
    long until = machine.untilWrite(wire.number, sim.now);
    boolean isLittle = machine.isLittle(wire.number);
    boolean isOpen = machine.take(wire.number, batch, sim.now);
    Simulation.require(until <= 0 || (isOpen && batch.isEmpty()), "written before it was due");
    Simulation.require(
        !isOpen || !batch.isEmpty() || machine.untilWrite(wire.number, sim.now) > 0,
        "due and not written");
    int length = 0;
    for (Frame frame : batch) {
      length += FrameLimits.HEADER_BYTES + frame.length();
      if (!isMutated(frame)) {
        send(wire, frame);
      }
    }
    Simulation.require(!isLittle || length <= LinkLimits.SMALL_WRITE, "a little is " + length);
    if (!batch.isEmpty() && wire.upIsBroken) {
      machine.writeFailed(wire.number, sim.now);
    }
    settle();
  }

  /** Whether the frame is lost by the mutation. */
  private boolean isMutated(Frame frame) {
    boolean wasReplaying = isReplaying;
    isReplaying &= !frame.kind().isSequenced();
    return switch (sim.mutation) {
      case DROP_ACK -> frame.kind() == FrameKind.ACK && sim.chance(3);
      case DROP_CREDIT -> frame.kind() == FrameKind.CREDIT && sim.chance(3);
      case FORGET_REPLAY -> wasReplaying && frame.kind().isSequenced() && sim.pipes > 1;
      case NONE, REPEAT_DATA, OTHER_CHANNEL, FORGET_CONSUMED -> false;
    };
  }

  private void send(Wire wire, Frame frame) {
    sim.frames++;
    sim.bytes += frame.length();
    try {
      Simulation.require(
          frame.kind() != FrameKind.BYE || !frame.json().text("code").orElse("").equals("protocol"),
          () -> "BYE " + text(frame));
    } catch (ProtocolException impossible) {
      throw new AssertionError(impossible);
    }
    byte[] encoded = codec.encode(frame).array();
    sim.mix(encoded);
    if (!wire.upIsBroken && !wire.upIsSwallowed) {
      wire.up.add(encoded);
    }
  }

  private static String text(Frame frame) {
    return new String(frame.payload().array(), StandardCharsets.UTF_8);
  }

  void read(Wire wire, boolean all) {
    boolean stands = !sim.isHealed && sim.now - wire.downStandsUntil < 0;
    if (!wire.isUsedHere || stands || wire.downIsSwallowed && !wire.downEnds) {
      return;
    }
    if (wire.number != machine.pipeInUse()) {
      // It waits for the pipe in use to end, or was closed before anyone read it.
      wire.isUsedHere &= !wire.isClosedHere;
      sim.network.tidy(wire);
      return;
    }
    if (wire.down.size() == 0 || wire.isClosedHere) {
      if (wire.downEnds) {
        wire.isUsedHere = false;
        machine.pipeEnded(wire.number, "the pipe ended", sim.now);
        settle();
        sim.network.tidy(wire);
      }
      return;
    }
    int size = wire.down.size();
    wire.splitter.add(wire.down.take(all ? size : 1 + sim.random.nextInt(size)));
    try {
      for (var next = wire.splitter.next(); next.isPresent(); next = wire.splitter.next()) {
        Frame frame = next.orElseThrow();
        boolean isJson = frame.kind().shape() == FrameKind.Shape.JSON;
        machine.received(wire.number, frame, isJson ? frame.json() : Json.object(), sim.now);
        settle();
      }
    } catch (ProtocolException broken) {
      throw new AssertionError("the agent's bytes are no frames", broken);
    }
  }
}
