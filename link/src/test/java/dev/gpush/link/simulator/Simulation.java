package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.machine.LinkLimits;
import dev.gpush.link.machine.LinkMachine;
import dev.gpush.link.machine.StreamState;
import dev.gpush.link.simulator.agent.AgentSide;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * One schedule: a gateway's machine and an agent, a network with faults between them, virtual time,
 * and users at both ends, all from one seed. First everything may happen at any moment; then the
 * faults stop, and everything must end.
 */
final class Simulation {
  static final long MILLI = 1_000_000L;
  static final long SECOND = 1_000 * MILLI;

  /** Once the faults have stopped, everything must have ended within this virtual time. */
  private static final long HEALED_WITHIN = 600 * SECOND;

  /** Agents are numbered from here. */
  static final int AGENT = 1_000;

  private static final int MAX_ROUNDS = 20_000;

  /** So many messages that are left are urgent, and go in bursts. */
  private static final int MANY = 8;

  /** One schedule of so many has streams that fill more than one write. */
  private static final int BULK = 40;

  /** One of so many has commands that put out more than is read ahead, with much credit. */
  private static final int COMMAND = 8;

  /** Milliseconds, as a power of two. */
  private static final int LONGEST_STEP = 10;

  /** What a schedule came to. */
  record Outcome(int steps, int pipes, int frames, long bytes, int restarts, long trace) {}

  final RandomGenerator random;
  final AgentSide agent;
  final List<SimulatedStream> streams = new ArrayList<>();
  final AgentSide.Sizes sizes;
  final Mutation mutation;
  final SimulatedNetwork network;
  final GatewayUsers users;
  final StreamOwners owners;
  final int poolHere;
  final boolean isBulk;
  final boolean isCommand;
  private final GatewayEnd here;
  private final AgentEnd there;

  long now = SECOND;
  int agents;
  int agentsKnown;
  int gateways;
  boolean isHealed;
  private boolean wasRepeated;
  private int steps;
  int frames;
  int pipes;
  long bytes;
  private long trace = 1;

  Simulation(long seed, AgentSide agent, Mutation mutation) {
    this.random = new SplittableRandom(seed);
    this.agent = agent;
    this.mutation = mutation;
    this.isBulk = chance(BULK);
    this.isCommand = !isBulk && chance(COMMAND);
    boolean hasSmallPool = !isBulk && !isCommand && chance(3);
    boolean readsLittleAhead = isCommand || (!isBulk && chance(3));
    int window = isBulk ? 1 << 20 : pick(200, 3_000, 65_536);
    this.sizes =
        new AgentSide.Sizes(
            window,
            Math.min(window, 16_384),
            Math.max(window, pick(8_192, 1 << 18)),
            hasSmallPool ? pick(40_000, 1 << 20) : 1 << 26,
            readsLittleAhead ? 5_000 : 1 << 20,
            readsLittleAhead ? 1_250 : 1 << 18,
            readsLittleAhead ? 625 : 1 << 17);
    this.poolHere = !isBulk && chance(3) ? pick(20_000, 60_000) : 1 << 27;
    this.network = new SimulatedNetwork(random);
    this.here = new GatewayEnd(this);
    this.there = new AgentEnd(this);
    this.users = new GatewayUsers(this);
    this.owners = new StreamOwners(this);
    agent.start(identity(), sizes);
  }

  int pick(int... of) {
    return of[random.nextInt(of.length)];
  }

  boolean chance(int oneIn) {
    return random.nextInt(oneIn) == 0;
  }

  /** The same while there are faults: later it would end what hangs, and hide that. */
  boolean chanceDuringFaults(int oneIn) {
    return chance(oneIn) && !isHealed;
  }

  private String identity() {
    return String.format("%032d", AGENT + ++agents);
  }

  SimulatedStream byId(Json request) {
    return streams.get(Math.toIntExact(request.number("id").orElseThrow()) - 1);
  }

  /** A user with many messages sends many at once: more than go in a row on the fast lane. */
  int messagesAtOnce(int left) {
    return left < MANY ? 1 : 1 + random.nextInt(left);
  }

  boolean isUrgent(int left) {
    return left >= MANY || chance(2);
  }

  // ---- the run

  Outcome run() {
    here.settle();
    users.begin();
    int length = pick(100, 250, 500);
    for (steps = 0; steps < length; steps++) {
      step();
    }
    heal();
    verifyStreams();
    verifyEmpty();
    return new Outcome(steps, pipes, frames, bytes, agents + gateways - 2, trace);
  }

  private void step() {
    switch (random.nextInt(40)) {
      case 0, 1, 2, 3, 4, 5, 6 -> here.write();
      case 7, 8, 9, 10, 11, 12, 13 -> network.any().ifPresent(there::write);
      case 14, 15, 16, 17, 18 -> network.any().ifPresent(pipe -> there.read(pipe, chance(2)));
      case 19, 20, 21, 22, 23 -> network.any().ifPresent(pipe -> here.read(pipe, chance(2)));
      case 24, 25, 26, 27, 28, 29 -> users.act();
      case 30, 31, 32, 33, 34 -> owners.act();
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

  private void fault() {
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4, 5, 6 -> network.any().ifPresent(network::cut);
      case 7, 8, 9 ->
          network.any().ifPresent(pipe -> pipe.upStallsUntil = now + random.nextLong(60 * SECOND));
      case 10, 11, 12 ->
          network
              .any()
              .ifPresent(pipe -> pipe.downStallsUntil = now + random.nextLong(60 * SECOND));
      case 13 -> network.any().ifPresent(pipe -> pipe.upIsSwallowed = true);
      case 14 ->
          network
              .any()
              .ifPresent(
                  pipe -> {
                    pipe.upIsSwallowed = true;
                    pipe.downIsSwallowed = true;
                  });
      case 15 -> network.any().ifPresent(pipe -> pipe.upIsBroken = true);
      case 16 -> {
        machine().renewPipe(now);
        here.settle();
      }
      case 17 -> {
        machine().woke(now);
        here.settle();
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

  private void restartAgent() {
    agent.start(identity(), sizes);
    owners.agentIsGone();
    network.agentIsGone();
  }

  private void restartGateway() {
    network.gatewayIsGone();
    users.gatewayIsGone();
    here.restart();
  }

  // ---- time

  /** Nanoseconds until something is due at either end. */
  private long untilNext() {
    long until = Math.min(here.until(), 60 * SECOND);
    boolean isHeard = network.all().stream().anyMatch(SimulatedPipe::hasRoomDown);
    long ack = isHeard ? agent.ackNanos() : Long.MAX_VALUE;
    return Math.max(0, ack == Long.MAX_VALUE ? until : Math.min(until, ack - now));
  }

  private void pass(long nanos) {
    now += nanos;
    here.tick();
    if (chance(10)) {
      agent.ping(now);
    }
  }

  LinkMachine machine() {
    return here.machine();
  }

  void settle() {
    here.settle();
  }

  void register(StreamState state, SimulatedStream stream) {
    here.register(state, stream);
  }

  // ---- the end

  /** No further faults; a pipe that swallows bytes still does, because only time shows that. */
  private void heal() {
    isHealed = true;
    long begun = now;
    int idle = 0;
    for (int round = 0; !isOver(); round++) {
      require(round < MAX_ROUNDS && now - begun < HEALED_WITHIN, () -> "stuck: " + describe());
      long before = trace;
      steps++;
      users.actAll();
      here.write();
      for (SimulatedPipe pipe : network.copy()) {
        if (network.has(pipe)) {
          there.read(pipe, true);
        }
      }
      owners.actAll();
      for (SimulatedPipe pipe : network.copy()) {
        if (network.has(pipe)) {
          there.write(pipe);
          here.read(pipe, true);
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
    AgentSide.Holds held = agent.holds();
    return users.areDone()
        && machine().openStreams() == 0
        && held.streams() == 0
        && machine().keptFrames() == 0
        && held.keptFrames() == 0;
  }

  private void verifyStreams() {
    for (SimulatedStream stream : streams) {
      require(!stream.isUsableThere(), () -> "open there: " + stream);
      require(stream.closeCameHere || stream.isOfAgent, () -> "open here: " + stream);
    }
  }

  private void verifyEmpty() {
    require(machine().keptBytes() == 0, () -> "kept " + machine().keptBytes());
    require(agent.holds().bytes() == 0, () -> "the agent keeps " + agent.holds());
    require(machine().windowBytes() == 0, () -> "windows of " + machine().windowBytes());
  }

  void verifyMemory() {
    long most =
        poolHere
            + FrameLimits.MAX_PIECE
            + (long) machine().openStreams() * 2 * LinkLimits.SMALL_WINDOW;
    require(machine().keptBytes() <= most, () -> "the gateway keeps " + machine().keptBytes());
    AgentSide.Holds held = agent.holds();
    long mostThere =
        sizes.pool()
            + sizes.queue()
            + (long) held.streams() * sizes.small()
            + 600L * held.keptFrames();
    require(held.bytes() <= mostThere, () -> "the agent keeps " + held);
  }

  boolean isMutated(Mutation wanted) {
    if (mutation != wanted || wasRepeated) {
      return false;
    }
    wasRepeated = true;
    return true;
  }

  String describe() {
    var text = new StringBuilder("now " + now / MILLI + " ms, streams " + machine().openStreams());
    text.append(", kept ").append(machine().keptFrames()).append(", agent ").append(agent.holds());
    text.append(", pipe ")
        .append(machine().pipeInUse())
        .append(", due in ")
        .append(here.until() / MILLI);
    text.append(" ms");
    network.all().forEach(pipe -> text.append("\n  ").append(pipe));
    streams.forEach(stream -> text.append("\n  ").append(stream));
    return text.toString();
  }

  void mix(byte[] some) {
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

  static void require(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new AssertionError(what.get());
    }
  }
}
