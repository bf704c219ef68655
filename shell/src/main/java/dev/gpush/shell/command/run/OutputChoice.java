package dev.gpush.shell.command.run;

import dev.gpush.core.run.RunView;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.console.JsonLines;
import dev.gpush.shell.console.OutputPump;
import dev.gpush.shell.console.PrefixedLines;
import dev.gpush.shell.console.RankLabels;
import dev.gpush.shell.console.RunPrinter;
import dev.gpush.shell.console.ScreenOutput;
import dev.gpush.shell.text.Look;
import java.util.Set;

/**
 * How a run's output is written: as JSON, for a terminal, or for a file or a pipe, which gets all
 * lines as they are.
 *
 * @param ranks only these; empty: all
 * @param isWhole on a terminal too, lines that ranks print alike are written for each of them
 */
record OutputChoice(Set<Integer> ranks, boolean isWhole, boolean isJson) {
  OutputChoice {
    ranks = Set.copyOf(ranks);
  }

  RunPrinter open(Call call, RunView run) {
    Look look = call.console().look();
    if (isJson) {
      return new JsonLines(new OutputPump(call.console()));
    }
    if (!look.progress() || look.columns() == 0) {
      return new PrefixedLines(new OutputPump(call.console()));
    }
    return new ScreenOutput(
        call.console(),
        new RankLabels(run.ranks(), ranks),
        !isWhole,
        call.services().timing().clock(),
        call.services().timing().ticker());
  }
}
