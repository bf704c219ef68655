package dev.gpush.link.simulator;

import dev.gpush.link.simulator.agent.FrameAssembler;

/**
 * One pipe of the simulated network. What was written lies in a queue until the simulation delivers
 * some of it; a direction may stall, break after any byte, or swallow everything.
 */
final class SimulatedPipe {
  /** As much as is taken before a writer waits. */
  static final int CAPACITY = 1 << 16;

  /** Of no other pipe of the schedule. */
  final int id;

  /** What its gateway calls it. */
  final int number;

  final boolean holdsBack;
  final ByteQueue up = new ByteQueue();
  final ByteQueue down = new ByteQueue();
  final FrameAssembler frames = new FrameAssembler();

  boolean isUsedHere = true;
  boolean isClosedHere;
  boolean isConnectedThere;
  boolean wasConnectedThere;
  boolean upEnds;
  boolean downEnds;
  boolean upIsBroken;
  boolean upIsSwallowed;
  boolean downIsSwallowed;
  long upStallsUntil;
  long downStallsUntil;

  SimulatedPipe(int id, int number, boolean holdsBack) {
    this.id = id;
    this.number = number;
    this.holdsBack = holdsBack;
  }

  boolean hasRoomUp() {
    return up.size() < CAPACITY || upIsSwallowed;
  }

  boolean hasRoomDown() {
    return isConnectedThere && (down.size() < CAPACITY || downIsSwallowed);
  }

  /** Nothing can happen on it any more. */
  boolean isDone() {
    return !isUsedHere && !isConnectedThere && up.size() == 0;
  }

  @Override
  public String toString() {
    return "pipe "
        + number
        + (isUsedHere ? " used" : "")
        + (isClosedHere ? " closed" : "")
        + (isConnectedThere ? " connected" : "")
        + (wasConnectedThere ? " was-connected" : "")
        + (upEnds ? " up-ends" : "")
        + (downEnds ? " down-ends" : "")
        + (upIsBroken ? " up-broken" : "")
        + (upIsSwallowed ? " up-swallowed" : "")
        + (downIsSwallowed ? " down-swallowed" : "")
        + " up "
        + up.size()
        + " down "
        + down.size();
  }
}
