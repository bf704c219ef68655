package dev.gpush.shell.command.place;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.BackendView;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "backends",
    header = "List the backends that can provide nodes",
    description = {
      "In the order in which gpush up prefers them here. config.yaml configures them."
    },
    footer = {
      "$ gpush backends",
      "NAME   KIND   USABLE  WHAT                 FROM",
      "local  local  yes     8 CPUs, no GPUs      built in"
    })
public final class BackendsCommand implements Action {
  @Option(names = "--explain", description = "also how each is reached, and why")
  boolean explain;

  private static List<String> explanation(Call call, BackendView view) {
    try {
      return call.services().backends().named(view.name()).map(Backend::explain).orElse(List.of());
    } catch (GpushException unusable) {
      // Its description has the reason.
      return List.of();
    }
  }

  @Override
  public int run(Call call) {
    List<BackendView> backends;
    try (Talk.Step _ = call.talk().step("asking the backends")) {
      backends = call.services().backends().views(call.services().configs().load(call.folder()));
    }
    if (call.common().json) {
      call.print(Json.array(backends.stream().map(view -> document(call, view)).toList()));
      return 0;
    }
    Table table = new Table("NAME", "KIND", "USABLE", "WHAT", "FROM");
    for (BackendView backend : backends) {
      table.row(
          backend.name(),
          backend.kind(),
          backend.isUsable() ? "yes" : "no",
          backend.description(),
          backend.origin());
    }
    call.print(table);
    if (explain) {
      for (BackendView backend : backends) {
        explanation(call, backend).forEach(line -> call.print(backend.name() + ": " + line + "\n"));
      }
    }
    return 0;
  }

  private Json document(Call call, BackendView view) {
    return Documents.backend(
        view, explain ? Optional.of(explanation(call, view)) : Optional.empty());
  }
}
