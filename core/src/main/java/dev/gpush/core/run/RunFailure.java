package dev.gpush.core.run;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * Which rank of a run failed first, where, and why.
 *
 * @param rank -1: the launcher itself, or the node as a whole
 * @param exit empty when a signal ended it
 * @param facts {@code code} and more, as the node wrote them; empty of an agent that writes none
 * @param same other ranks that failed in the same way
 * @param left what is left of the run on its nodes; each names its node
 */
public record RunFailure(
    int rank,
    Where where,
    Optional<Integer> exit,
    Optional<Integer> signal,
    Json.Obj facts,
    List<Integer> same,
    List<Json> left) {
  /**
   * The place of a rank.
   *
   * @param isAlone no other node of the session has this host's name
   * @param gpu empty where there are none
   */
  public record Where(int node, String host, boolean isAlone, Optional<String> gpu) {}

  /** A line of the user's own code. */
  public record Frame(String file, long line) {}

  public RunFailure {
    same = List.copyOf(same);
    left = List.copyOf(left);
  }

  public RunReason reason() {
    return RunReason.from(facts, exit, signal);
  }

  /** For programs; {@code unknown} of an agent that gives no reasons. */
  public String code() {
    return facts.text("code").orElse("unknown");
  }

  /** The innermost line inside the workspace. */
  public Optional<Frame> frame() {
    Json frame = facts.object("frame");
    return frame.text("file").map(file -> new Frame(file, frame.number("line").orElse(0L)));
  }

  /** Its number in the run; of a program that starts ranks itself, the one that it reports. */
  public int shownRank() {
    return facts.integer("of_rank").orElse(rank);
  }

  /** Whether {@link #shownRank} is a rank of MPI: mpirun does not say on which node that was. */
  public boolean isOfMpi() {
    return facts.flag("mpi");
  }

  public Json.Obj json() {
    return Json.object(
        "rank", rank,
        "node", where.node(),
        "host", where.host(),
        "alone", where.isAlone(),
        "gpu", where.gpu(),
        "exit", exit,
        "signal", signal,
        "code", code(),
        "facts", facts,
        "same_ranks", same,
        "left", left);
  }

  /** As {@link #json} wrote it. */
  public static RunFailure from(Json json) {
    return new RunFailure(
        json.integer("rank").orElse(-1),
        new Where(
            json.integer("node").orElse(0),
            json.text("host").orElse(""),
            json.flag("alone"),
            json.text("gpu")),
        json.integer("exit"),
        json.integer("signal"),
        json.object("facts"),
        numbers(json, "same_ranks"),
        json.items("left"));
  }

  /** The whole numbers of a list. */
  public static List<Integer> numbers(Json json, String key) {
    return json.items(key).stream()
        .flatMap(item -> Json.object("n", item).integer("n").stream())
        .toList();
  }
}
