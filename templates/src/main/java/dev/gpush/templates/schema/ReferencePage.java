package dev.gpush.templates.schema;

import dev.gpush.core.json.Json;
import dev.gpush.core.time.DurationText;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.Size;
import dev.gpush.templates.schema.ValueType.Span;
import java.time.Duration;
import java.util.List;

/** The schema as a page of the documentation; a test holds the page against it. */
public final class ReferencePage {
  private static final String HEAD =
      """
      # Configuration

      This page is made from the schema in `templates/`; a test keeps it equal. What is not listed here is an error, and so is
      a key whose feature comes later: nothing is ignored.

      Four files, each optional. Of a value that several give, the first counts:

      1. flags on the command line
      2. `gpush.local.yaml`, beside `gpush.yaml`, not committed
      3. `gpush.yaml`, then the template that it `inherits`
      4. what was last used in this folder (nodes and GPUs)
      5. `config.yaml` in `$GPUSH_HOME` (`~/.gpush`), under `defaults:`
      6. `/etc/gpush/site.yaml`, under `defaults:`
      7. what is built in

      Variables of `env` add up over the files. `gpush config` shows every value and the line that it comes from.
      Durations are written `90s`, `30m`, `12h`, `1d12h`; sizes `500kB`, `50MB`, `2GiB`.
      A backend called `local`, this machine, is always there. Without `backends` all that are configured are asked, `local` last.
      """;

  private ReferencePage() {}

  public static String markdown() {
    var page = new StringBuilder(HEAD);
    for (Place place : Place.values()) {
      page.append("\n## ").append(place.file()).append("\n\n");
      page.append(place.purpose()).append(".\n\n");
      table(page, Schema.of(place).stream().filter(key -> !key.isLater()).toList());
      later(page, Schema.of(place).stream().filter(Key::isLater).toList());
    }
    return page.toString();
  }

  private static void table(StringBuilder page, List<Key> keys) {
    page.append("| key | must be | built in | meaning |\n|---|---|---|---|\n");
    for (Key key : keys) {
      page.append("| `").append(path(key)).append("` | ").append(key.type().words());
      page.append(" | ").append(builtIn(key)).append(" | ").append(key.says()).append(" |\n");
    }
  }

  private static void later(StringBuilder page, List<Key> keys) {
    if (keys.isEmpty()) {
      return;
    }
    page.append("\nRefused for now, by name, because the feature comes later:\n\n");
    keys.forEach(
        key -> page.append("* `").append(path(key)).append("`: ").append(key.later()).append("\n"));
  }

  private static String path(Key key) {
    return key.path().replace(Schema.ANY, "NAME");
  }

  private static String builtIn(Key key) {
    return switch (key.builtIn()) {
      case Json.Null _ -> "";
      case Json.Int(var seconds) when key.type() instanceof Span ->
          DurationText.of(Duration.ofSeconds(seconds));
      case Json.Int(var bytes) when key.type() instanceof Size -> bytes / 1_000_000 + "MB";
      case Json.Text(var word) when key.type() instanceof OneOf -> word;
      case Json.Int _, Json.Text _, Json.Bool _, Json.Real _, Json.Arr _, Json.Obj _ ->
          key.builtIn().write();
    };
  }
}
