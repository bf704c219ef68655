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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * One schedule: a gateway's machine and an agent, a network with faults between them, virtual time,
 * and users at both ends, all from one seed. First everything may happen at any moment; then the
 * faults cease, and all must come to its end.
 */
final class Simulation {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;

  /** Once the faults have ceased, all must be over within this virtual time. */
  private static final long HEALED_WITHIN = 600 * SECOND;

  /** Agents are numbered from here. */
  private static final int AGENT = 1_000;

  private static final int MAX_ROUNDS = 20_000;

  /** Milliseconds, as a power of two. */
  private static final int LONGEST_STEP = 10;

  private static final LinkWaits WAITS =
      new LinkWaits(
          5 * SECOND,
          30 * SECOND,
          2 * SECOND,
          20 * SECOND,
          60 * SECOND,
          60 * SECOND,
          200 * MILLI,
          5 * SECOND);

  /** What a schedule came to. */
  record Outcome(int steps, int pipes, int frames, long bytes, int restarts, long trace) {}

  private record Opening(int pipe, long at, boolean works) {}

  final RandomGenerator random;
  final AgentSide agent;
  final List<Talk> talks = new ArrayList<>();
  final AgentSide.Sizes sizes;
  private final Mutation mutation;
  private final FrameCodec codec = new FrameCodec();
  private final Map<Integer, Wire> wires = new TreeMap<>();
  private final List<Opening> openings = new ArrayList<>();
  private final Map<StreamState, Talk> byStream = new HashMap<>();
  private final ArrayList<Frame> batch = new ArrayList<>();
  private final int poolHere;
  private final Users users;

  LinkMachine machine;
  long now = SECOND;
  int agents;
  int agentsKnown;
  int gateways;
  private int wiresBefore;
  private boolean isHealed;
  private boolean isReplaying;
  private boolean wasRepeated;
  private int steps;
  private int frames;
  private int pipes;
  private long bytes;
  private long trace = 1;

  Simulation(long seed, AgentSide agent, Mutation mutation) {
    this.random = new SplittableRandom(seed);
    this.agent = agent;
    this.mutation = mutation;
    boolean isTight = random.nextInt(3) == 0;
    int window = pick(200, 3_000, 65_536);
    this.sizes =
        new AgentSide.Sizes(
            window,
            Math.min(window, 16_384),
            pick(8_192, 1 << 18),
            isTight ? 40_000 : 1 << 26,
            isTight ? 5_000 : 1 << 20);
    this.poolHere = isTight ? 60_000 : 1 << 27;
    this.machine = newMachine();
    this.users = new Users(this);
    agent.start(identity(), sizes);
  }

  int pick(int... of) {
    return of[random.nextInt(of.length)];
  }

  boolean chance(int oneIn) {
    return random.nextInt(oneIn) == 0;
  }

  private LinkMachine newMachine() {
    gateways++;
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
            String.format("%032x", gateways),
            "capabilities",
            List.of());
    var made = new LinkMachine(identity, WAITS, random, poolHere, now);
    made.connect(now);
    return made;
  }

  private String identity() {
    return String.format("%032d", AGENT + ++agents);
  }

  // ---- the run

  Outcome run() {
    settle();
    users.begin();
    int length = pick(100, 250, 500);
    for (steps = 0; steps < length; steps++) {
      step();
    }
    heal();
    users.verifyEnd();
    verifyEmpty();
    return new Outcome(steps, pipes, frames, bytes, agents + gateways - 2, trace);
  }

  private void step() {
    switch (random.nextInt(40)) {
      case 0, 1, 2, 3, 4, 5, 6 -> writeHere();
      case 7, 8, 9, 10, 11, 12, 13 -> anyWire().ifPresent(this::writeThere);
      case 14, 15, 16, 17, 18 -> anyWire().ifPresent(wire -> goUp(wire, chance(2)));
      case 19, 20, 21, 22, 23 -> anyWire().ifPresent(wire -> goDown(wire, chance(2)));
      case 24, 25, 26, 27, 28, 29 -> users.actHere();
      case 30, 31, 32, 33, 34 -> users.actThere();
      case 35, 36 -> pass(random.nextLong(pick(1, 10, 100) * MILLI));
      case 37 -> pass(chance(4) ? random.nextLong(pick(1, 40) * SECOND) : untilNext());
      case 38 -> pass(untilNext());
      default -> {
        if (chance(3)) {
          fault();
        }
      }
    }
  }

  private Optional<Wire> anyWire() {
    if (wires.isEmpty()) {
      return Optional.empty();
    }
    // The newest is the one in use, mostly.
    int which = chance(3) ? random.nextInt(wires.size()) : wires.size() - 1;
    return wires.values().stream().skip(which).findFirst();
  }

  private void fault() {
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4, 5, 6 -> anyWire().ifPresent(this::cut);
      case 7, 8, 9 ->
          anyWire().ifPresent(wire -> wire.upStandsUntil = now + random.nextLong(60 * SECOND));
      case 10, 11, 12 ->
          anyWire().ifPresent(wire -> wire.downStandsUntil = now + random.nextLong(60 * SECOND));
      case 13 -> anyWire().ifPresent(wire -> wire.upIsSwallowed = true);
      case 14 ->
          anyWire()
              .ifPresent(
                  wire -> {
                    wire.upIsSwallowed = true;
                    wire.downIsSwallowed = true;
                  });
      case 15 -> anyWire().ifPresent(wire -> wire.upIsBroken = true);
      case 16 -> {
        machine.renewPipe(now);
        settle();
      }
      case 17 -> {
        machine.woke(now);
        settle();
      }
      case 18 -> {
        if (chance(2)) {
          restartAgent();
        }
      }
      default -> {
        if (chance(4)) {
          restartGateway();
        }
      }
    }
  }

  /** Both directions end after any byte that is under way. */
  private void cut(Wire wire) {
    byte[] before = wire.up.take(random.nextInt(wire.up.size() + 1));
    wire.up.clear();
    wire.up.add(before);
    wire.upEnds = true;
    wire.upIsBroken = true;
    byte[] back = wire.down.take(random.nextInt(wire.down.size() + 1));
    wire.down.clear();
    wire.down.add(back);
    wire.downEnds = true;
  }

  private void restartAgent() {
    agent.start(identity(), sizes);
    users.agentIsGone();
    for (Wire wire : wires.values()) {
      cut(wire);
      wire.up.clear();
      wire.isConnectedThere = false;
    }
  }

  private void restartGateway() {
    for (Wire wire : wires.values()) {
      wire.isUsedHere = false;
      wire.up.clear();
      wire.upEnds = true;
    }
    openings.clear();
    wiresBefore += 1_000;
    users.gatewayIsGone();
    byStream.clear();
    agentsKnown = 0;
    machine = newMachine();
    settle();
  }

  // ---- time

  /** Nanoseconds until something is due at either end. */
  private long untilNext() {
    long until = Math.min(machine.untilTick(now), 60 * SECOND);
    Wire wire = wires.get(key(machine.pipeInUse()));
    if (wire != null && wire.hasRoomUp()) {
      until = Math.min(until, machine.untilWrite(wire.number, now));
    }
    for (Opening opening : openings) {
      until = Math.min(until, opening.at() - now);
    }
    boolean isHeard = wires.values().stream().anyMatch(Wire::hasRoomDown);
    long ack = isHeard ? agent.ackNanos() : Long.MAX_VALUE;
    return Math.max(0, ack == Long.MAX_VALUE ? until : Math.min(until, ack - now));
  }

  private void pass(long nanos) {
    now += nanos;
    if (machine.untilTick(now) <= 0 && (isHealed || !chance(4))) {
      machine.tick(now);
      settle();
    }
    for (Opening opening : List.copyOf(openings)) {
      if (opening.at() - now <= 0 && openings.remove(opening)) {
        finish(opening);
      }
    }
    if (chance(10)) {
      agent.ping(now);
    }
  }

  private void finish(Opening opening) {
    if (opening.works()) {
      pipes++;
      var wire = new Wire(opening.pipe(), chance(4));
      wires.put(key(wire.number), wire);
      machine.pipeOpened(wire.number, wire.holdsBack, now);
    } else {
      machine.pipeFailed(opening.pipe(), "refused", now);
    }
    settle();
  }

  /** Pipes of an earlier gateway have numbers of their own. */
  private int key(int pipe) {
    return pipe == 0 ? 0 : wiresBefore + pipe;
  }

  // ---- the gateway's end

  /** Does what the machine wants. */
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
        boolean isGood = isHealed || !chance(5);
        long delay = isHealed ? 10 * MILLI : random.nextLong(pick(10, 2_000) * MILLI);
        if (isGood || !chance(3)) {
          openings.add(new Opening(pipe, now + delay, isGood));
        }
      }
      case PipeCommand.Close(int pipe) -> {
        openings.removeIf(opening -> opening.pipe() == pipe);
        Wire wire = wires.get(key(pipe));
        if (wire != null) {
          wire.isClosedHere = true;
          wire.upIsBroken = true;
          wire.down.clear();
          wire.downEnds = true;
          // What was written may come late, or never; the end of it may go unnoticed.
          if (chance(2)) {
            wire.up.clear();
          }
          wire.upEnds = !chance(5);
        }
      }
    }
  }

  private void hear(LinkEvent event) {
    switch (event) {
      case LinkEvent.Up(var welcome, _) -> {
        isReplaying = true;
        agentsKnown = Integer.parseInt(welcome.text("agent").orElseThrow()) - AGENT;
      }
      case LinkEvent.Cut(var reason) -> require(!reason.startsWith("protocol"), "cut by " + reason);
      case LinkEvent.NotConnected _ -> machine.connect(now);
      case LinkEvent.Over _, LinkEvent.Superseded _, LinkEvent.OtherVersion _ ->
          throw new AssertionError("the link ended: " + event);
      case LinkEvent.Offered offered -> users.offered(offered);
      case LinkEvent.OfStream ofStream -> users.hear(talk(ofStream.stream()), ofStream);
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

  private void writeHere() {
    Wire wire = wires.get(key(machine.pipeInUse()));
    if (wire == null || !wire.hasRoomUp()) {
      return;
    }
    batch.clear();
    long until = machine.untilWrite(wire.number, now);
    boolean isLittle = machine.isLittle(wire.number);
    boolean isOpen = machine.take(wire.number, batch, now);
    require(until <= 0 || (isOpen && batch.isEmpty()), "written before it was due");
    require(
        !isOpen || !batch.isEmpty() || machine.untilWrite(wire.number, now) > 0,
        "due and not written");
    int length = 0;
    for (Frame frame : batch) {
      length += FrameLimits.HEADER_BYTES + frame.length();
      if (!isMutated(frame)) {
        send(wire, frame);
      }
    }
    require(!isLittle || length <= LinkLimits.SMALL_WRITE, "a little is " + length);
    if (!batch.isEmpty() && wire.upIsBroken) {
      machine.writeFailed(wire.number, now);
    }
    settle();
  }

  /** Whether the frame is lost by the mutation. */
  private boolean isMutated(Frame frame) {
    boolean wasReplaying = isReplaying;
    isReplaying &= !frame.kind().isSequenced();
    return switch (mutation) {
      case DROP_ACK -> frame.kind() == FrameKind.ACK && chance(3);
      case DROP_CREDIT -> frame.kind() == FrameKind.CREDIT && chance(3);
      case FORGET_REPLAY -> wasReplaying && frame.kind().isSequenced() && pipes > 1;
      case NONE, REPEAT_DATA, OTHER_CHANNEL, FORGET_CONSUMED -> false;
    };
  }

  private void send(Wire wire, Frame frame) {
    frames++;
    bytes += frame.length();
    try {
      require(
          frame.kind() != FrameKind.BYE || !frame.json().text("code").orElse("").equals("protocol"),
          () -> "BYE " + text(frame));
    } catch (ProtocolException impossible) {
      throw new AssertionError(impossible);
    }
    byte[] encoded = codec.encode(frame).array();
    mix(encoded);
    if (!wire.upIsBroken && !wire.upIsSwallowed) {
      wire.up.add(encoded);
    }
  }

  private static String text(Frame frame) {
    return new String(frame.payload().array(), java.nio.charset.StandardCharsets.UTF_8);
  }

  private void goDown(Wire wire, boolean all) {
    boolean stands = !isHealed && now - wire.downStandsUntil < 0;
    if (!wire.isUsedHere || stands || wire.downIsSwallowed && !wire.downEnds) {
      return;
    }
    if (wire.number != machine.pipeInUse()) {
      // It waits for the pipe in use to end, or was closed before anyone read it.
      wire.isUsedHere &= !wire.isClosedHere;
      tidy(wire);
      return;
    }
    if (wire.down.size() == 0 || wire.isClosedHere) {
      if (wire.downEnds) {
        wire.isUsedHere = false;
        machine.pipeEnded(wire.number, "the pipe ended", now);
        settle();
        tidy(wire);
      }
      return;
    }
    int size = wire.down.size();
    wire.splitter.add(wire.down.take(all ? size : 1 + random.nextInt(size)));
    try {
      for (var next = wire.splitter.next(); next.isPresent(); next = wire.splitter.next()) {
        Frame frame = next.orElseThrow();
        boolean isJson = frame.kind().shape() == FrameKind.Shape.JSON;
        machine.received(wire.number, frame, isJson ? frame.json() : Json.object(), now);
        settle();
      }
    } catch (ProtocolException broken) {
      throw new AssertionError("the agent's bytes are no frames", broken);
    }
  }

  // ---- the agent's end

  private void goUp(Wire wire, boolean all) {
    boolean stands = !isHealed && now - wire.upStandsUntil < 0;
    if (stands || (wire.wasConnectedThere && !wire.isConnectedThere)) {
      if (!stands) {
        wire.up.clear();
        tidy(wire);
      }
      return;
    }
    if (!wire.isConnectedThere) {
      wire.isConnectedThere = true;
      wire.wasConnectedThere = true;
      agent.connected(key(wire), now);
    }
    int size = wire.up.size();
    if (size > 0) {
      byte[] some = wire.up.take(all ? size : 1 + random.nextInt(size));
      agent.received(key(wire), some, now);
      users.hearThere(agent.told());
      noticeClosed(wire);
    } else if (wire.upEnds && !wire.upIsSwallowed) {
      agent.disconnected(key(wire), now);
      wire.isConnectedThere = false;
      wire.downEnds = true;
      tidy(wire);
    }
  }

  private int key(Wire wire) {
    for (var entry : wires.entrySet()) {
      if (entry.getValue() == wire) {
        return entry.getKey();
      }
    }
    throw new AssertionError("no such pipe");
  }

  private void noticeClosed(Wire wire) {
    if (!agent.isOpen(key(wire))) {
      wire.isConnectedThere = false;
      wire.up.clear();
      wire.upIsBroken = true;
      wire.downEnds = true;
    }
  }

  private void writeThere(Wire wire) {
    if (!wire.hasRoomDown()) {
      return;
    }
    byte[] some = agent.take(key(wire), now);
    mix(some);
    if (some.length > 0 && some[4] == FrameKind.BYE.code()) {
      String bye =
          new String(
              some,
              FrameLimits.HEADER_BYTES,
              some.length - FrameLimits.HEADER_BYTES,
              java.nio.charset.StandardCharsets.UTF_8);
      require(bye.contains("superseded"), "the agent's BYE " + bye);
    }
    if (!wire.downEnds && !wire.downIsSwallowed) {
      wire.down.add(some);
    }
    users.hearThere(agent.told());
    noticeClosed(wire);
  }

  private void tidy(Wire wire) {
    if (wire.isDone()) {
      wires.values().remove(wire);
    }
  }

  // ---- the end

  /** No further faults; a pipe that swallows still does, for only time tells that. */
  private void heal() {
    isHealed = true;
    users.heal();
    long begun = now;
    int idle = 0;
    for (int round = 0; !isOver(); round++) {
      require(round < MAX_ROUNDS && now - begun < HEALED_WITHIN, () -> "stuck: " + describe());
      long before = trace;
      steps++;
      users.actAllHere();
      writeHere();
      for (Wire wire : List.copyOf(wires.values())) {
        if (wires.containsValue(wire)) {
          goUp(wire, true);
        }
      }
      users.actAllThere();
      for (Wire wire : List.copyOf(wires.values())) {
        if (wires.containsValue(wire)) {
          writeThere(wire);
          goDown(wire, true);
        }
      }
      if (before == trace) {
        // Ever longer, where something is due and cannot be done.
        pass(Math.max(MILLI << Math.min(idle++, LONGEST_STEP), untilNext()));
      } else {
        idle = 0;
      }
    }
  }

  private boolean isOver() {
    AgentSide.Holds there = agent.holds();
    return users.areDone()
        && machine.openStreams() == 0
        && there.streams() == 0
        && machine.keptFrames() == 0
        && there.keptFrames() == 0;
  }

  private void verifyEmpty() {
    require(machine.keptBytes() == 0, () -> "kept " + machine.keptBytes());
    require(agent.holds().bytes() == 0, () -> "the agent keeps " + agent.holds());
    require(machine.windowBytes() == 0, () -> "windows of " + machine.windowBytes());
  }

  void verifyMemory() {
    long most =
        poolHere
            + FrameLimits.MAX_PIECE
            + (long) machine.openStreams() * 2 * LinkLimits.SMALL_WINDOW;
    require(machine.keptBytes() <= most, () -> "the gateway keeps " + machine.keptBytes());
    AgentSide.Holds there = agent.holds();
    long mostThere =
        sizes.pool()
            + sizes.queue()
            + (long) there.streams() * sizes.small()
            + 600L * there.keptFrames();
    require(there.bytes() <= mostThere, () -> "the agent keeps " + there);
  }

  boolean isMutated(Mutation wanted) {
    if (mutation != wanted || wasRepeated) {
      return false;
    }
    wasRepeated = true;
    return true;
  }

  String describe() {
    var text = new StringBuilder("now " + now / MILLI + " ms, streams " + machine.openStreams());
    text.append(", kept ").append(machine.keptFrames()).append(", agent ").append(agent.holds());
    text.append(", pipe ").append(machine.pipeInUse()).append(", openings ").append(openings);
    text.append(", tick ").append(machine.untilTick(now) / MILLI).append(" ms");
    wires.forEach((key, wire) -> text.append("\n  ").append(key).append(' ').append(wire));
    talks.forEach(talk -> text.append("\n  ").append(talk));
    return text.toString();
  }

  private void mix(byte[] some) {
    for (byte each : some) {
      trace = 31 * trace + each;
    }
    if (some.length > 0) {
      trace = 31 * trace + now;
    }
  }

  static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  static void require(boolean holds, java.util.function.Supplier<String> what) {
    if (!holds) {
      throw new AssertionError(what.get());
    }
  }

  static byte[] array(ByteBuffer bytes) {
    var copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    return copy;
  }
}
