package dev.gpush.shell.command.run;

import dev.gpush.control.wire.Facts;
import dev.gpush.core.run.RunView;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.console.JsonLines;
import dev.gpush.shell.console.Labels;
import dev.gpush.shell.console.OutputPump;
import dev.gpush.shell.console.PrefixedLines;
import dev.gpush.shell.console.RunPrinter;
import dev.gpush.shell.console.ScreenOutput;
import java.time.Duration;
import java.util.Set;

/**
 * How output is written: as JSON, for a terminal, or for a file or a pipe, which gets all lines as
 * they are.
 *
 * @param ranks only these; empty: all
 * @param isWhole on a terminal too, lines that ranks print alike are written for each of them
 */
record OutputChoice(Set<Integer> ranks, boolean isWhole, boolean isJson) {
  OutputChoice {
    ranks = Set.copyOf(ranks);
  }

  RunPrinter open(Call call, RunView run) {
    if (isJson) {
      return JsonLines.ofRanks(new OutputPump(call.console()));
    }
    Duration patience = isWhole ? Duration.ZERO : ScreenOutput.RANKS;
    return open(call, new Labels.OfRanks(run.ranks(), ranks), patience);
  }

  /** For a command on several nodes, with the node in place of the rank. */
  static RunPrinter ofNodes(Call call, int nodes) {
    return open(call, new Labels.OfNodes(nodes), ScreenOutput.NODES);
  }

  private static RunPrinter open(Call call, Labels labels, Duration patience) {
    Facts facts = call.invocation().facts();
    if (!facts.out() || !facts.err()) {
      return new PrefixedLines(new OutputPump(call.console()), labels);
    }
    return new ScreenOutput(
        call.console(),
        labels,
        patience,
        call.services().timing().clock(),
        call.services().timing().ticker());
  }
}
