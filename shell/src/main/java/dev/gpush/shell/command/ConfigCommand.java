package dev.gpush.shell.command;

import dev.gpush.core.config.Config;
import dev.gpush.core.json.Json;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "config",
    header = "Show every setting here and where it comes from",
    description = {
      "From gpush.local.yaml, gpush.yaml, what this folder used last, config.yaml and site.yaml;"
          + " the first that says something wins. A mistake in any of them is shown with file, line"
          + " and key."
    },
    footer = {
      "$ gpush config",
      "SETTING     VALUE  FROM",
      "nodes       2      gpush.yaml:1",
      "lease.idle  1h     built in"
    })
final class ConfigCommand implements Action {
  @Option(names = "--json", description = "as JSON")
  boolean json;

  @Override
  public int run(Call call) {
    Config config = call.services().configs().load(call.folder());
    if (json) {
      call.print(Documents.config(config));
      return 0;
    }
    Table table = new Table("SETTING", "VALUE", "FROM");
    config
        .settings()
        .forEach(setting -> table.row(setting.key(), plain(setting.value()), setting.origin()));
    call.print(table);
    call.say("workspace: " + config.root() + " (" + config.rootReason() + ")");
    return 0;
  }

  private static String plain(Json value) {
    return switch (value) {
      case Json.Text(var text) -> text;
      case Json.Null _ -> "";
      case Json.Arr(var items) ->
          items.stream().map(ConfigCommand::plain).collect(Collectors.joining(", "));
      case Json.Obj _, Json.Int _, Json.Real _, Json.Bool _ -> value.write();
    };
  }
}
