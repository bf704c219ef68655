package dev.gpush.shell.command;

import dev.gpush.core.backend.BackendView;
import dev.gpush.core.json.Json;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "backends",
    header = "List the places that can give nodes",
    description = {"In the order in which up asks them here. They are set up in config.yaml."},
    footer = {
      "$ gpush backends",
      "NAME   KIND   USABLE  WHAT                 FROM",
      "local  local  yes     8 CPUs, no GPUs      built in"
    })
final class BackendsCommand implements Action {
  @Option(names = "--json", description = "as JSON")
  boolean json;

  @Override
  public int run(Call call) {
    List<BackendView> backends =
        call.services().backends().views(call.services().configs().load(call.folder()));
    if (json) {
      call.print(Json.array(backends.stream().map(Documents::backend).toList()));
      return 0;
    }
    Table table = new Table("NAME", "KIND", "USABLE", "WHAT", "FROM");
    for (BackendView backend : backends) {
      table.row(
          backend.name(),
          backend.kind(),
          backend.usable() ? "yes" : "no",
          backend.describe(),
          backend.origin());
    }
    call.print(table);
    return 0;
  }
}
