package dev.gpush.shell.command;

import dev.gpush.core.json.Json;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "doctor",
    header = "Prove that nothing was forgotten anywhere",
    description = {
      "Lists everything that ever was reserved, each proved gone or not, problems first. The exit"
          + " status is 1 when something is bad."
    },
    footer = {
      "$ gpush doctor",
      "STATUS  WHAT    FOUND",
      "ok      devbox  2 nodes on local, all linked"
    })
final class DoctorCommand implements Action {
  @Option(names = "--json", description = "as JSON")
  boolean json;

  @Override
  public int run(Call call) {
    List<Finding> findings = call.services().sessions().doctor();
    if (json) {
      call.print(Json.array(findings.stream().map(Documents::finding).toList()));
    } else if (findings.isEmpty()) {
      call.say("nothing is reserved, and nothing is left");
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
