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
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "runs",
    header = "List the runs of a session",
    footer = {
      "$ gpush runs",
      "RUN  STATE    EXIT  RANKS  STARTED  TOOK   CODE  COMMAND",
      "7    running  -     2      12m ago  12m4s  G42   train.py --lr 3e-4",
      "6    failed   1     2      31m ago  8s     G41   train.py"
    })
public final class RunsCommand implements Action {
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
    Table table = new Table("RUN", "STATE", "EXIT", "RANKS", "STARTED", "TOOK", "CODE", "COMMAND");
    for (RunView run : runs) {
      table.row(
          "" + run.number(),
          run.state(),
          run.exit().map(Object::toString).orElse(""),
          "" + run.ranks(),
          DurationText.coarse(Duration.between(run.started(), call.now())) + " ago",
          DurationText.of(Duration.between(run.started(), run.ended().orElse(call.now()))),
          "G" + run.generation(),
          Clean.command(run.words()));
    }
    call.print(table);
    return 0;
  }
}
