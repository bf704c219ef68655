package dev.gpush.shell.command.session;

import dev.gpush.core.json.Json;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "doctor",
    header = "Check that no reserved nodes were left behind",
    description = {
      "Lists everything that was ever reserved and whether it is gone, problems first. The exit"
          + " status is 1 when something is bad. What another home of yours holds is listed and"
          + " never ended."
    },
    footer = {
      "$ gpush doctor",
      "STATUS  WHAT    FOUND",
      "ok      devbox  2 nodes on local, all linked"
    })
public final class DoctorCommand implements Action {
  @Option(
      names = "--end",
      description = "release gangs that this home started but no longer tracks")
  boolean end;

  @Override
  public int run(Call call) throws InterruptedException {
    List<Finding> findings;
    try (Talk.Step _ = call.talk().step("asking the backends and the nodes")) {
      findings =
          end
              ? call.services().sessions().endForgotten(call.talk())
              : call.services().sessions().doctor();
    }
    if (call.common().json) {
      call.print(Json.array(findings.stream().map(Documents::finding).toList()));
    } else if (findings.isEmpty()) {
      call.say(
          end ? "nothing was left behind" : "nothing is reserved, and nothing was left behind");
    } else {
      Table table = new Table("STATUS", "WHAT", "FOUND");
      findings.forEach(finding -> table.row(finding.status(), finding.what(), finding.detail()));
      call.print(table);
      findings.forEach(
          finding ->
              finding.remedy().ifPresent(line -> call.say(finding.what() + ": try " + line)));
    }
    return findings.stream().anyMatch(finding -> finding.status().equals("bad")) ? 1 : 0;
  }
}
