package dev.gpush.templates.schema;

import java.util.List;

/** The schema as a page of the documentation; a test compares them. */
final class ReferencePage {
  private static final String HEAD =
      """
      # Configuration

      This page is made from the schema in `templates/`; a test keeps it equal. What is not listed here is an error. A key
      whose feature does not exist yet is refused, or it is read and gpush says that it has no effect: nothing is ignored
      silently.

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
      A backend called `local`, this machine, is always there. Without `backends` all configured backends are asked,
      `local` last; it is not asked for GPUs or an `image:` while there is another one, and does not take the place of one
      that failed to give nodes.

      Editors can complete these keys and mark mistakes: `$GPUSH_HOME/schema` has the same schema as JSON Schema
      ([guide](../guide/editors.md#gpushyaml-and-configyaml)).

      With `GPUSH_DEBUG=1` in its environment the gateway also logs why it does what it does: `gpush gateway stop`, then
      `GPUSH_DEBUG=1 gpush gateway start`; `gpush gateway logs` shows the log.
      """;

  private ReferencePage() {}

  static String markdown() {
    var page = new StringBuilder(HEAD);
    for (Place place : Place.values()) {
      page.append("\n## ").append(place.file()).append("\n\n");
      page.append(place.purpose()).append(".\n\n");
      List<Key> keys = Schema.of(place);
      table(page, keys.stream().filter(Key::isSupported).toList());
      unsupported(page, keys);
      refused(page, keys);
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

  private static void unsupported(StringBuilder page, List<Key> keys) {
    var lines = new StringBuilder();
    for (Key key : keys) {
      if (key.support() instanceof Support.Unsupported(var effect)) {
        lines.append("| `").append(path(key)).append("` | ").append(key.type().words());
        lines.append(" | ").append(effect).append(" |\n");
      }
    }
    if (!lines.isEmpty()) {
      page.append("\nAccepted, but without effect yet; `up`, `run` and `config` say so:\n\n");
      page.append("| key | must be | what happens instead |\n|---|---|---|\n").append(lines);
    }
  }

  private static void refused(StringBuilder page, List<Key> keys) {
    var lines = new StringBuilder();
    for (Key key : keys) {
      if (key.support() instanceof Support.Refused(var feature)) {
        lines.append("* `").append(path(key)).append("`: ").append(feature).append("\n");
      }
    }
    if (!lines.isEmpty()) {
      page.append("\nRefused by name, because the feature does not exist yet:\n\n");
      page.append(lines);
    }
  }

  private static String path(Key key) {
    return key.path().replace(Schema.ANY, "NAME");
  }

  private static String builtIn(Key key) {
    return ValueText.of(key.type(), key.builtIn());
  }
}
