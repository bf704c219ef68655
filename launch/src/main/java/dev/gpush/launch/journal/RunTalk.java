package dev.gpush.launch.journal;

import dev.gpush.core.time.DurationText;
import dev.gpush.launch.journal.RunEvent.RankEnd;
import java.util.Map;

/** The sentences that a run's output has between its lines. */
public final class RunTalk {
  /** Why a supervisor stops when the user asked for it; docs/technical/runs.md. */
  public static final String ASKED = "asked";

  /** The same for a scheduler that takes the node back, by preemption or because of a cancel. */
  static final String TAKEN = "the scheduler takes the node back";

  private static final Map<Integer, String> SIGNALS =
      Map.ofEntries(
          Map.entry(1, "HUP"),
          Map.entry(2, "INT"),
          Map.entry(3, "QUIT"),
          Map.entry(4, "ILL"),
          Map.entry(6, "ABRT"),
          Map.entry(7, "BUS"),
          Map.entry(8, "FPE"),
          Map.entry(9, "KILL"),
          Map.entry(10, "USR1"),
          Map.entry(11, "SEGV"),
          Map.entry(12, "USR2"),
          Map.entry(13, "PIPE"),
          Map.entry(14, "ALRM"),
          Map.entry(15, "TERM"));

  public static final String AGAIN =
      "another program took the rendezvous port; starting again with another one";

  private RunTalk() {}

  static String ended(int rank, RankEnd end) {
    String who = rank < 0 ? "the launcher" : "rank " + rank;
    return end.signal()
        .map(number -> who + " was ended by SIG" + SIGNALS.getOrDefault(number, number.toString()))
        .orElseGet(() -> who + " ended with status " + end.status());
  }

  static String warned(RunEvent.Warned warned) {
    return (warned.isTaken() ? TAKEN + " in " : "the session ends in ")
        + DurationText.of(warned.left())
        + ": "
        + warned.signal()
        + " to the ranks that handle it";
  }

  static String gap(long bytes) {
    return bytes + " bytes of output are missing here: the node's disk did not accept them";
  }

  public static String failedElsewhere(int node) {
    return "node " + node + " failed";
  }
}
