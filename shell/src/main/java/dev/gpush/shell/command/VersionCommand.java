package dev.gpush.shell.command;

import dev.gpush.core.json.Json;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Services;
import picocli.CommandLine.Command;

@Command(
    name = "version",
    header = "Show which gpush this is",
    footer = {"$ gpush version", "gpush 0.1.0 (build 3f9a1c)"})
final class VersionCommand implements Action {
  @Override
  public int run(Call call) {
    Services.Version version = call.services().version();
    if (call.common().json) {
      call.print(Json.object("version", version.number(), "build", version.build()));
    } else {
      call.console().out("gpush " + version.number() + " (build " + version.build() + ")");
    }
    return 0;
  }
}
