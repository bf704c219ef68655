package dev.gpush.link.simulator;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * The pipes there are, oldest first; those of an earlier gateway too, as long as something may come
 * of them.
 */
final class Network {
  /** A gateway uses fewer. */
  private static final int PIPES = 1_000;

  private final RandomGenerator random;
  private final Map<Integer, Wire> wires = new TreeMap<>();
  private int before;

  Network(RandomGenerator random) {
    this.random = random;
  }

  Wire add(int pipe, boolean holdsBack) {
    var wire = new Wire(before + pipe, pipe, holdsBack);
    wires.put(wire.id, wire);
    return wire;
  }

  /** The pipe of this number of the present gateway. */
  Optional<Wire> find(int pipe) {
    return Optional.ofNullable(wires.get(before + pipe));
  }

  Collection<Wire> all() {
    return wires.values();
  }

  /** Those of now; what is done to one may remove others. */
  List<Wire> copy() {
    return List.copyOf(wires.values());
  }

  boolean has(Wire wire) {
    return wires.containsKey(wire.id);
  }

  /** The newest is the one in use, mostly. */
  Optional<Wire> any() {
    if (wires.isEmpty()) {
      return Optional.empty();
    }
    int which = random.nextInt(3) == 0 ? random.nextInt(wires.size()) : wires.size() - 1;
    return wires.values().stream().skip(which).findFirst();
  }

  /** Both directions end after any byte that is under way. */
  void cut(Wire wire) {
    keepSome(wire.up);
    wire.upEnds = true;
    wire.upIsBroken = true;
    keepSome(wire.down);
    wire.downEnds = true;
  }

  private void keepSome(ByteQueue queue) {
    byte[] some = queue.take(random.nextInt(queue.size() + 1));
    queue.clear();
    queue.add(some);
  }

  /** The agent's process ended: what it has said may still come. */
  void agentIsGone() {
    for (Wire wire : wires.values()) {
      cut(wire);
      wire.up.clear();
      wire.isConnectedThere = false;
    }
  }

  /** The gateway's process ended, and what it had not sent yet is lost. */
  void gatewayIsGone() {
    before += PIPES;
    for (Wire wire : wires.values()) {
      wire.isUsedHere = false;
      wire.up.clear();
      wire.upEnds = true;
    }
  }

  /** Nothing comes of a pipe that both ends have let go. */
  void tidy(Wire wire) {
    if (wire.isDone()) {
      wires.remove(wire.id);
    }
  }
}
