package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.machine.StreamState;
import java.util.Optional;

/** One stream as both ends see it: "here" is the gateway, "there" the agent. */
final class SimulatedStream {
  final int id;
  final boolean isOfAgent;
  final boolean isListener;
  final StreamDirection up;
  final StreamDirection down;

  // What is planned.
  boolean isCall;
  boolean isRefused;
  boolean isNeverRead;
  boolean hasSources;

  // The gateway's end.
  Optional<StreamState> state = Optional.empty();
  boolean isKnownHere;
  boolean wasOpened;
  boolean closedHere;
  boolean closeCameHere;
  boolean isWithdrawn;
  int agentsBefore;

  /** By channel: a sender that found no room waits for an event. */
  final boolean[] isWaiting = new boolean[2];

  // The agent's end.
  int number;
  boolean isKnownThere;
  boolean wasAnswered;
  boolean closedThere;
  boolean closeCameThere;
  boolean isGoneThere;
  Json.Obj reasonThere = Json.object();
  Json.Obj reasonHere = Json.object();

  SimulatedStream(int id, boolean isOfAgent, boolean isListener) {
    this.id = id;
    this.isOfAgent = isOfAgent;
    this.isListener = isListener;
    this.up = new StreamDirection("stream " + id + " up", id, 0);
    this.down = new StreamDirection("stream " + id + " down", id, 1);
  }

  /** Whether the user here may still use it. */
  boolean isUsableHere() {
    return isKnownHere && !closedHere && !closeCameHere;
  }

  /** Whether its owner there may still use it. */
  boolean isUsableThere() {
    return isKnownThere && !isGoneThere && !closedThere && !closeCameThere;
  }

  /** The machine said that it may be written. */
  void wakeSenders() {
    isWaiting[0] = false;
    isWaiting[1] = false;
  }

  @Override
  public String toString() {
    return "stream "
        + id
        + (isOfAgent ? " of the agent" : "")
        + (isCall ? " call" : "")
        + (hasSources ? " with sources" : "")
        + " here "
        + (isKnownHere ? "known " : "")
        + (wasOpened ? "opened " : "")
        + (isWaiting[0] || isWaiting[1] ? "waiting " : "")
        + (closedHere ? "closed " : "")
        + (closeCameHere ? "over " : "")
        + "there "
        + (isKnownThere ? "known " : "")
        + (wasAnswered ? "answered " : "")
        + (closedThere ? "closed " : "")
        + (closeCameThere ? "over " : "")
        + (isGoneThere ? "gone" : "");
  }
}
