package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.machine.StreamState;
import java.util.Optional;

/** One stream as both ends see it. */
final class Talk {
  final int id;
  final boolean isOfAgent;
  final boolean isListener;
  final Half up;
  final Half down;

  // What is planned.
  boolean isRefused;
  boolean isNeverRead;

  // The gateway's end.
  Optional<StreamState> stream = Optional.empty();
  boolean isKnownHere;
  boolean wasOpened;
  boolean closedHere;
  boolean closeCameHere;
  int agentsBefore;

  // The agent's end.
  int number;
  boolean isKnownThere;
  boolean wasAnswered;
  boolean closedThere;
  boolean closeCameThere;
  boolean isGoneThere;
  Json.Obj reasonThere = Json.object();
  Json.Obj reasonHere = Json.object();

  Talk(int id, boolean isOfAgent, boolean isListener) {
    this.id = id;
    this.isOfAgent = isOfAgent;
    this.isListener = isListener;
    this.up = new Half("stream " + id + " up", id, 0);
    this.down = new Half("stream " + id + " down", id, 1);
  }

  /** Whether the user here may still use it. */
  boolean isUsableHere() {
    return isKnownHere && !closedHere && !closeCameHere;
  }

  /** Whether its owner there may still use it. */
  boolean isUsableThere() {
    return isKnownThere && !isGoneThere && !closedThere && !closeCameThere;
  }

  @Override
  public String toString() {
    return "stream "
        + id
        + (isOfAgent ? " of the agent" : "")
        + " here "
        + (isKnownHere ? "known " : "")
        + (wasOpened ? "opened " : "")
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
