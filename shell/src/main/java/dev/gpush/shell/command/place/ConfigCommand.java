package dev.gpush.shell.command.place;

import dev.gpush.core.config.Config;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Table;
import picocli.CommandLine.Command;

@Command(
    name = "config",
    header = "Show every setting here and where it comes from",
    description = {
      "From gpush.local.yaml, gpush.yaml, what this folder used last, config.yaml and site.yaml;"
          + " the first that sets a value wins. Your name at the backends and the settings of each"
          + " backend come last. A mistake in any file is shown with its line and key, and so is a"
          + " key that has no effect yet."
    },
    footer = {
      "$ gpush config",
      "SETTING     VALUE  FROM",
      "nodes       2      gpush.yaml:1",
      "lease.idle  1h     built in"
    })
public final class ConfigCommand implements Action {
  @Override
  public int run(Call call) {
    Config config = call.services().configs().load(call.folder());
    if (call.common().json) {
      call.print(Documents.config(config));
      return 0;
    }
    Table table = new Table("SETTING", "VALUE", "FROM");
    config
        .settings()
        .forEach(setting -> table.row(setting.key(), setting.text(), setting.origin()));
    call.print(table);
    call.say("workspace: " + config.root() + " (" + config.rootReason() + ")");
    config
        .unsupported()
        .forEach(
            key ->
                call.say(key.origin() + " " + key.key() + ": not supported yet: " + key.effect()));
    return 0;
  }
}
