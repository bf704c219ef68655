package dev.gpush.shell.command;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.BackendView;
import dev.gpush.core.failure.GpushException;
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
  @Option(names = "--explain", description = "also which way is taken to each, and why")
  boolean explain;

  @Option(names = "--json", description = "as JSON")
  boolean json;

  private static void explain(Call call, List<BackendView> views) {
    for (BackendView view : views) {
      try {
        call
            .services()
            .backends()
            .named(view.name())
            .map(Backend::explain)
            .orElse(List.of())
            .stream()
            .map(line -> view.name() + ": " + line + "\n")
            .forEach(call::print);
      } catch (GpushException unusable) {
        // The table says why.
      }
    }
  }

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
    if (explain) {
      explain(call, backends);
    }
    return 0;
  }
}
