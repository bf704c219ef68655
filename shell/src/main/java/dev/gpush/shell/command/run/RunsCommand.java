package dev.gpush.shell.command.run;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.time.DurationText;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import dev.gpush.shell.text.Clean;
import dev.gpush.shell.text.RunFailureText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "runs",
    header = "List the runs of a session",
    footer = {
      "$ gpush runs",
      "RUN  STATE    EXIT  RANKS  STARTED  TOOK   CODE  COMMAND             FAILED BECAUSE OF",
      "7    running  -     2      12m ago  12m4s  G42   train.py --lr 3e-4  -",
      "6    failed   1     2      31m ago  8s     G41   train.py            NameError: name 'x' ..."
    })
public final class RunsCommand implements Action {
  private static final List<String> HEADING =
      List.of("RUN", "STATE", "EXIT", "RANKS", "STARTED", "TOOK", "CODE", "COMMAND");

  @Option(names = "--json", description = "as JSON")
  boolean json;

  @Override
  public int run(Call call) {
    SessionView session = call.session();
    List<RunView> runs = call.services().runs().list(session.name());
    if (json) {
      call.print(Json.array(runs.stream().map(run -> Documents.run(run, call.now())).toList()));
      return 0;
    }
    if (runs.isEmpty()) {
      call.say(session.name() + " has had no runs; gpush run train.py starts one");
      return 0;
    }
    boolean hasFailures = runs.stream().anyMatch(run -> run.failure().isPresent());
    var heading = new ArrayList<>(HEADING);
    if (hasFailures) {
      heading.add("FAILED BECAUSE OF");
    }
    Table table = new Table(heading.toArray(String[]::new));
    for (RunView run : runs) {
      List<String> cells = cells(call, run);
      if (hasFailures) {
        cells.add(run.failure().map(failure -> new RunFailureText(failure).brief()).orElse(""));
      }
      table.row(cells.toArray(String[]::new));
    }
    call.print(table);
    return 0;
  }

  private static List<String> cells(Call call, RunView run) {
    return new ArrayList<>(
        List.of(
            "" + run.number(),
            run.state(),
            run.exit().map(Object::toString).orElse(""),
            "" + run.ranks(),
            DurationText.coarse(Duration.between(run.started(), call.now())) + " ago",
            DurationText.of(Duration.between(run.started(), run.ended().orElse(call.now()))),
            "G" + run.generation(),
            Clean.command(run.words())));
  }
}
