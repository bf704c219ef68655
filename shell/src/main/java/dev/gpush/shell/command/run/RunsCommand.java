package dev.gpush.shell.command.run;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import dev.gpush.shell.text.RunFailureText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "runs",
    header = "List the runs of a session",
    description = {
      "With --diff: what differed between two runs, as far as it is recorded: the generation of"
          + " the files, the command and what it claimed, the Python, the variables that gpush set"
          + " and the plan for NCCL. Values of variables are not recorded, because they may be"
          + " secrets; those of the plan are."
    },
    footer = {
      "$ gpush runs",
      "RUN  STATE    EXIT  RANKS  STARTED  TOOK   CODE  COMMAND   REASON",
      "7    running  -     2      12m ago  12m4s  G42   train.py  -",
      "6    failed   1     2      31m ago  8s     G41   train.py  NameError: name ...",
      "",
      "$ gpush runs --diff 6 7",
      "OF       WHAT        RUN 6     RUN 7",
      "code     generation  G41       G42",
      "command  words       train.py  train.py --lr 3e-4"
    })
public final class RunsCommand implements Action {
  private static final List<String> HEADING =
      List.of("RUN", "STATE", "EXIT", "RANKS", "STARTED", "TOOK", "CODE", "COMMAND");

  @Option(
      names = "--diff",
      arity = "2",
      paramLabel = "RUN",
      description = "what differed between these two runs")
  List<String> diff = List.of();

  @Override
  public int run(Call call) {
    SessionView session = call.session();
    if (!diff.isEmpty()) {
      compare(call, session);
      return 0;
    }
    List<RunView> runs;
    try (Talk.Step _ = call.talk().step("asking for the runs")) {
      runs = call.services().runs().list(session.name());
    }
    if (call.common().json) {
      call.print(Json.array(runs.stream().map(run -> Documents.run(run, call.now())).toList()));
      return 0;
    }
    if (runs.isEmpty()) {
      call.say(session.name() + " has had no runs; gpush run train.py starts one");
      return 0;
    }
    boolean hasFailures = runs.stream().anyMatch(run -> run.failure().isPresent());
    boolean hasNetworks = runs.stream().anyMatch(run -> run.transport().isPresent());
    var heading = new ArrayList<>(HEADING);
    if (hasNetworks) {
      heading.add("NETWORK");
    }
    if (hasFailures) {
      heading.add("REASON");
    }
    Table table = new Table(heading.toArray(String[]::new));
    for (RunView run : runs) {
      List<String> cells = cells(call, run);
      if (hasNetworks) {
        cells.add(run.transport().map(used -> Clean.line(used.network())).orElse(""));
      }
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
            run.state().word(),
            run.exit().map(Object::toString).orElse(""),
            "" + run.ranks(),
            DurationText.coarse(Duration.between(run.started(), call.now())) + " ago",
            DurationText.of(
                Duration.between(run.started(), run.progress().ended().orElse(call.now()))),
            "G" + run.generation(),
            Clean.command(run.title())));
  }

  private void compare(Call call, SessionView session) {
    if (diff.size() != 2) {
      throw Values.bad("runs", "--diff takes two runs, not " + diff.size());
    }
    int first = RunNumbers.find(call, session.name(), Optional.of(diff.get(0))).number();
    int second = RunNumbers.find(call, session.name(), Optional.of(diff.get(1))).number();
    List<RunDifference> found;
    try (Talk.Step _ = call.talk().step("comparing the runs")) {
      found = call.services().runs().differences(session.name(), first, second);
    }
    if (call.common().json) {
      call.print(Json.array(found.stream().map(Documents::difference).toList()));
      return;
    }
    if (found.isEmpty()) {
      call.say("runs " + first + " and " + second + " do not differ in what is recorded");
      return;
    }
    Table table = new Table("OF", "WHAT", "RUN " + first, "RUN " + second);
    for (RunDifference each : found) {
      table.row(
          each.kind().word(),
          Clean.line(each.what()),
          Clean.line(each.first()),
          Clean.line(each.second()));
    }
    call.print(table);
  }
}
