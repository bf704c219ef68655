package dev.gpush.link.simulator;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/** The pipes, oldest first; those of an earlier gateway too, while something may come of them. */
final class SimulatedNetwork {
  /** A gateway uses fewer. */
  private static final int PIPES = 1_000;

  private final RandomGenerator random;
  private final Map<Integer, SimulatedPipe> pipes = new TreeMap<>();
  private int before;

  SimulatedNetwork(RandomGenerator random) {
    this.random = random;
  }

  SimulatedPipe add(int number, boolean holdsBack) {
    var pipe = new SimulatedPipe(before + number, number, holdsBack);
    pipes.put(pipe.id, pipe);
    return pipe;
  }

  /** The pipe of this number of the present gateway. */
  Optional<SimulatedPipe> find(int number) {
    return Optional.ofNullable(pipes.get(before + number));
  }

  Collection<SimulatedPipe> all() {
    return pipes.values();
  }

  /** Those of now; what is done to one may remove others. */
  List<SimulatedPipe> copy() {
    return List.copyOf(pipes.values());
  }

  boolean has(SimulatedPipe pipe) {
    return pipes.containsKey(pipe.id);
  }

  /** The newest is the one in use, mostly. */
  Optional<SimulatedPipe> any() {
    if (pipes.isEmpty()) {
      return Optional.empty();
    }
    int which = random.nextInt(3) == 0 ? random.nextInt(pipes.size()) : pipes.size() - 1;
    return pipes.values().stream().skip(which).findFirst();
  }

  /** Both directions end after any byte that is under way. */
  void cut(SimulatedPipe pipe) {
    keepSome(pipe.up);
    pipe.upEnds = true;
    pipe.upIsBroken = true;
    keepSome(pipe.down);
    pipe.downEnds = true;
  }

  private void keepSome(ByteQueue queue) {
    byte[] some = queue.take(random.nextInt(queue.size() + 1));
    queue.clear();
    queue.add(some);
  }

  /** The agent's process ended: what it has said may still come. */
  void agentIsGone() {
    for (SimulatedPipe pipe : pipes.values()) {
      cut(pipe);
      pipe.up.clear();
      pipe.isConnectedThere = false;
    }
  }

  /** The gateway's process ended, and what it had not sent yet is lost. */
  void gatewayIsGone() {
    before += PIPES;
    for (SimulatedPipe pipe : pipes.values()) {
      pipe.isUsedHere = false;
      pipe.up.clear();
      pipe.upEnds = true;
    }
  }

  /** Nothing comes of a pipe that both ends have let go. */
  void tidy(SimulatedPipe pipe) {
    if (pipe.isDone()) {
      pipes.remove(pipe.id);
    }
  }
}
