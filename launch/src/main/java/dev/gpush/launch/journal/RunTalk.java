package dev.gpush.launch.journal;

import dev.gpush.core.run.RunTransport;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The sentences that a run's output has between its lines. */
public final class RunTalk {
  /** Why a supervisor stops when the user asked for it; docs/technical/runs.md. */
  public static final String ASKED = "asked";

  /** The same when newer files are on the nodes, and the run is started again with them. */
  public static final String SAVED = "files were saved";

  /** The same for a scheduler that takes the node back, by preemption or because of a cancel. */
  static final String TAKEN = "the scheduler takes the node back";

  /** Less than this is over before anybody has read that it is being waited for. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  private static final long MEGABYTE = 1_000_000;

  public static final String AGAIN =
      "another program took the rendezvous port; starting again with another one";

  private RunTalk() {}

  /** Said when ranks have long enough that a person would wonder; empty otherwise. */
  static Optional<String> waiting(RunEvent.Stopping stopping) {
    return stopping
        .grace()
        .filter(grace -> grace.compareTo(SHORT) >= 0)
        .map(grace -> stopping.why() + ": the others have " + DurationText.of(grace) + " to end");
  }

  static String sameTraceback(String exception, List<Integer> ranks) {
    String many = ranks.size() == 1 ? "rank " : "ranks ";
    return "the same traceback (" + exception + ") from " + many + numbers(ranks);
  }

  private static String numbers(List<Integer> ranks) {
    return ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  static String warned(RunEvent.Warned warned) {
    return (warned.isTaken() ? TAKEN + " in " : "the session ends in ")
        + DurationText.of(warned.left())
        + ": "
        + warned.signal()
        + " to the ranks that handle it";
  }

  static String network(RunTransport verdict) {
    String logs = verdict.evidence().logs();
    boolean isCounted = verdict.evidence().by().equals("counters");
    return (isCounted ? "network, by what the devices carry: " : "network: ")
        + verdict.sentence()
        + (logs.isEmpty() ? "" : "; NCCL's logs on the nodes: " + logs);
  }

  static String gap(long bytes) {
    return bytes + " bytes of output are missing here: the node's disk did not accept them";
  }

  /** Said where the oldest output of a node is gone. */
  static String dropped(int node, long bytes) {
    return ((bytes + MEGABYTE - 1) / MEGABYTE)
        + " MB of older output of node "
        + node
        + " are not kept: a node keeps the last 1 GB of a run";
  }

  /** What is missing here, if the event says so. */
  public static Optional<String> missing(int node, RunEvent event) {
    return switch (event) {
      case RunEvent.Gap(long bytes) -> Optional.of(gap(bytes));
      case RunEvent.At(_, long dropped) -> Optional.of(dropped(node, dropped));
      case RunEvent.Printed _,
          RunEvent.RankExit _,
          RunEvent.Stopping _,
          RunEvent.Warned _,
          RunEvent.Transport _,
          RunEvent.Ended _,
          RunEvent.Unknown _ ->
          Optional.empty();
    };
  }

  /** Said where a node no longer has a run. */
  public static String swept(int node) {
    return "the output on node "
        + node
        + " is not kept: a node keeps the last 50 runs, of all 8 GB";
  }

  /** Said where a node cannot read the rest of what it has. */
  public static String cut(int node) {
    return "the output on node " + node + " ends here: the node cannot read the rest";
  }

  /** Said after an earlier attempt of which the output of a node cannot be read. */
  public static String unknownEnd(int attempt) {
    return "how attempt " + attempt + " ended is not known; the run was started again";
  }

  /**
   * Said to a reader who was so slow that attempts have come and gone.
   *
   * @param logs the command
   */
  public static String missed(int attempts, String logs) {
    return (attempts == 1 ? "another attempt has" : attempts + " other attempts have")
        + " ended meanwhile: "
        + logs
        + " shows what is kept of the output";
  }

  /** Said where not all output of a node was brought. */
  public static String unfetched(int node) {
    return "the output of node " + node + " was not fetched to its end";
  }

  /** Said before the output of the oldest attempt that is kept. */
  public static String forgotten(int attempts) {
    return "the output of "
        + (attempts == 1 ? "an earlier attempt" : attempts + " earlier attempts")
        + " is not kept";
  }

  public static String lost(int node) {
    return "node " + node + " is lost, and what its ranks printed with it";
  }

  /** Said by a start that has failed and could not end its ranks on these nodes. */
  public static String mayContinue(int run, List<Integer> nodes) {
    return "run "
        + run
        + " may continue on "
        + Phrase.and(nodes.stream().map(node -> "node " + node).toList())
        + " until gpush can reach it there and end it";
  }

  public static String failedElsewhere(int node) {
    return "node " + node + " failed";
  }
}
