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

/** Does for the machine what the driver does, without threads: pipes, events and commands. */
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
  private final Map<StreamState, SimulatedStream> streams = new HashMap<>();
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
        Json.object("version", 2, "holder", "me", "term", 1)
            .with("incarnation", String.format("%032x", sim.gateways));
    var made = new LinkMachine(identity, WAITS, sim.random, sim.poolHere, sim.now);
    made.connect(sim.now);
    return made;
  }

  /** The process is killed, and another one starts. */
  void restart() {
    openings.clear();
    streams.clear();
    sim.agentsKnown = 0;
    machine = newMachine();
    settle();
  }

  LinkMachine machine() {
    return machine;
  }

  private @Nullable SimulatedPipe used() {
    return sim.network.find(machine.pipeInUse()).orElse(null);
  }

  // ---- time

  /** Nanoseconds until something is due. */
  long until() {
    long until = machine.untilTick(sim.now);
    SimulatedPipe pipe = used();
    if (pipe != null && pipe.hasRoomUp()) {
      until = Math.min(until, machine.untilWrite(pipe.number, sim.now));
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
      SimulatedPipe pipe = sim.network.add(opening.pipe(), sim.chance(4));
      machine.pipeOpened(pipe.number, pipe.holdsBack, sim.now);
    } else {
      machine.pipeFailed(opening.pipe(), "refused", sim.now);
    }
    settle();
  }

  // ---- what the machine says

  /** Handles all events and commands. */
  void settle() {
    while (machine.hasEvents() || machine.hasCommands()) {
      while (machine.hasEvents()) {
        handle(machine.nextEvent().orElseThrow());
      }
      while (machine.hasCommands()) {
        execute(machine.nextCommand().orElseThrow());
      }
    }
  }

  private void execute(PipeCommand command) {
    switch (command) {
      case PipeCommand.Open(int pipe) -> {
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
        sim.network.find(pipe).ifPresent(this::closeHere);
      }
    }
  }

  private void closeHere(SimulatedPipe pipe) {
    pipe.isClosedHere = true;
    pipe.upIsBroken = true;
    pipe.down.clear();
    pipe.downEnds = true;
    // What was written may come late, or never; the end of it may go unnoticed.
    if (sim.chance(2)) {
      pipe.up.clear();
    }
    pipe.upEnds = !sim.chance(5);
  }

  private void handle(LinkEvent event) {
    switch (event) {
      case LinkEvent.Up(var welcome, _) -> {
        isReplaying = true;
        sim.agentsKnown = Integer.parseInt(welcome.text("agent").orElseThrow()) - Simulation.AGENT;
      }
      case LinkEvent.Cut(var reason) ->
          Simulation.require(!reason.startsWith("protocol"), "cut by " + reason);
      case LinkEvent.NotConnected _ -> {
        if (sim.chance(2)) {
          machine.connect(sim.now);
        } else {
          machine.keepConnecting(sim.now);
        }
      }
      case LinkEvent.Over _, LinkEvent.Superseded _, LinkEvent.OtherVersion _ ->
          throw new AssertionError("the link ended: " + event);
      case LinkEvent.Offered offered -> sim.users.offered(offered);
      case LinkEvent.Writable _ when sim.mutation == Mutation.DROP_WRITABLE -> {}
      case LinkEvent.OfStream ofStream -> sim.users.handle(stream(ofStream.stream()), ofStream);
    }
  }

  private SimulatedStream stream(StreamState state) {
    SimulatedStream stream = streams.get(state);
    if (stream == null) {
      throw new AssertionError("stream " + state.number() + " is unknown");
    }
    return stream;
  }

  void register(StreamState state, SimulatedStream stream) {
    streams.put(state, stream);
  }

  // ---- frames

  void write() {
    SimulatedPipe pipe = used();
    if (pipe == null || !pipe.hasRoomUp()) {
      return;
    }
    batch.clear();
    long until = machine.untilWrite(pipe.number, sim.now);
    boolean isSmall = machine.isSmall(pipe.number);
    boolean isOpen = machine.take(pipe.number, batch, sim.now);
    Simulation.require(until <= 0 || (isOpen && batch.isEmpty()), "written before it was due");
    Simulation.require(
        !isOpen || !batch.isEmpty() || machine.untilWrite(pipe.number, sim.now) > 0,
        "due and not written");
    int length = 0;
    for (Frame frame : batch) {
      length += FrameLimits.HEADER_BYTES + frame.length();
      if (!isMutated(frame)) {
        send(pipe, frame);
      }
    }
    Simulation.require(!isSmall || length <= LinkLimits.SMALL_WRITE, "a small write is " + length);
    if (!batch.isEmpty() && pipe.upIsBroken) {
      machine.writeFailed(pipe.number, sim.now);
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
      case NONE, REPEAT_DATA, OTHER_CHANNEL, FORGET_CONSUMED, DROP_WRITABLE -> false;
    };
  }

  private void send(SimulatedPipe pipe, Frame frame) {
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
    if (!pipe.upIsBroken && !pipe.upIsSwallowed) {
      pipe.up.add(encoded);
    }
  }

  private static String text(Frame frame) {
    return new String(frame.payload().array(), StandardCharsets.UTF_8);
  }

  void read(SimulatedPipe pipe, boolean all) {
    boolean isStalled = !sim.isHealed && sim.now - pipe.downStallsUntil < 0;
    if (!pipe.isUsedHere || isStalled || pipe.downIsSwallowed && !pipe.downEnds) {
      return;
    }
    if (pipe.number != machine.pipeInUse()) {
      // It waits for the pipe in use to end, or was closed before anyone read it.
      pipe.isUsedHere &= !pipe.isClosedHere;
      sim.network.tidy(pipe);
      return;
    }
    if (pipe.down.size() == 0 || pipe.isClosedHere) {
      if (pipe.downEnds) {
        pipe.isUsedHere = false;
        machine.pipeEnded(pipe.number, "the pipe ended", sim.now);
        settle();
        sim.network.tidy(pipe);
      }
      return;
    }
    int size = pipe.down.size();
    pipe.frames.add(pipe.down.take(all ? size : 1 + sim.random.nextInt(size)));
    try {
      for (var next = pipe.frames.next(); next.isPresent(); next = pipe.frames.next()) {
        Frame frame = next.orElseThrow();
        boolean isJson = frame.kind().shape() == FrameKind.Shape.JSON;
        machine.received(pipe.number, frame, isJson ? frame.json() : Json.object(), sim.now);
        settle();
      }
    } catch (ProtocolException broken) {
      throw new AssertionError("the agent's bytes are not frames", broken);
    }
  }
}
