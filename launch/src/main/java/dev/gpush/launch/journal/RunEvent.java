package dev.gpush.launch.journal;

import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** What a supervisor reports besides output (docs/technical/runs.md). */
public sealed interface RunEvent {
  /** A rank of the node prints, for the first time. */
  record Printed(Duration after) implements RunEvent {}

  /** A process has ended; rank -1 is the launcher itself. */
  record RankExit(int rank, RankEnd end) implements RunEvent {}

  /**
   * The ranks are asked to end.
   *
   * @param grace how long they have, where that is said
   */
  record Stopping(String why, Optional<Duration> grace) implements RunEvent {}

  /**
   * The ranks that handle the signal have received it.
   *
   * @param isTaken because a scheduler takes the nodes back, not because the lease ends
   */
  record Warned(String signal, boolean isTaken, Duration left) implements RunEvent {}

  /** This many bytes of output are missing here, because the disk did not accept them. */
  record Gap(long bytes) implements RunEvent {}

  record Ended(NodeEnd end) implements RunEvent {}

  /** The network that the node's ranks use; once in a run. */
  record Transport(NodeTransport facts) implements RunEvent {}

  /**
   * Not in the journal: the next record is at this offset.
   *
   * @param dropped how many bytes before it are gone
   */
  record At(long offset, long dropped) implements RunEvent {}

  /** An event that is not used here, or of a newer agent. */
  record Unknown() implements RunEvent {}

  /** How a process ended; exactly one of the two is present. */
  record RankEnd(Optional<Integer> exit, Optional<Integer> signal) {
    /** Of a status; signals are lower. */
    private static final int MOST = 255;

    /** The status that a shell would give. */
    int status() {
      return exit.orElseGet(() -> 128 + signal.orElse(0));
    }

    public boolean isFailure() {
      return status() != 0;
    }

    /** What no process can end with is a failure all the same. */
    private static int status(long said) {
      return said >= 0 && said <= MOST ? (int) said : MOST;
    }

    static RankEnd from(Json json) {
      Optional<Integer> signal = json.number("signal").map(RankEnd::status);
      return new RankEnd(
          signal.isPresent()
              ? Optional.empty()
              : Optional.of(json.number("exit").map(RankEnd::status).orElse(0)),
          signal);
    }
  }

  static RunEvent parse(byte[] payload) {
    Json json;
    try {
      json = Json.parse(new String(payload, StandardCharsets.UTF_8));
    } catch (JsonSyntaxException notOurs) {
      return new Unknown();
    }
    return switch (json.text("event").orElse("")) {
      case "printed" -> new Printed(Duration.ofMillis(json.number("ms").orElse(0L)));
      case "rank-exit" -> new RankExit(rank(json), RankEnd.from(json));
      case "stopping" ->
          new Stopping(
              json.text("why").orElse(""), json.number("grace_s").map(Duration::ofSeconds));
      case "warned" ->
          new Warned(
              json.text("signal").orElse(""),
              json.text("why").orElse("").equals("taken"),
              Duration.ofSeconds(json.number("left_s").orElse(0L)));
      case "gap" -> new Gap(json.number("bytes").orElse(0L));
      case "transport" -> new Transport(new NodeTransport(json));
      case "ended" -> new Ended(NodeEnd.from(json));
      case "at" -> new At(json.number("offset").orElse(0L), json.number("dropped").orElse(0L));
      default -> new Unknown();
    };
  }

  private static int rank(Json json) {
    return json.integer("rank").orElse(-1);
  }
}
