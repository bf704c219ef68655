package dev.gpush.templates;

import dev.gpush.core.config.Config.Unsupported;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.ConfigFailure.Problem;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.CleanText;
import dev.gpush.templates.schema.Checker;
import dev.gpush.templates.schema.Checker.Checked;
import dev.gpush.templates.schema.Found;
import dev.gpush.templates.schema.Place;
import dev.gpush.templates.schema.Support;
import dev.gpush.templates.schema.ValueType.Simple;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.YamlReader;
import dev.gpush.templates.yaml.YamlReader.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One file of settings: its values and its mistakes. A missing file gives nothing.
 *
 * @param heir for a template: file and line that inherit it; else empty
 */
record SettingsFile(
    String name, Place place, List<Found> found, List<Problem> problems, String heir) {
  /** A key is shown up to this length; a longer one is no typing error. */
  private static final int MOST_KEY = 80;

  SettingsFile {
    found = List.copyOf(found);
    problems = List.copyOf(problems);
  }

  static SettingsFile read(Path file, Place place) {
    String name = String.valueOf(file.getFileName());
    return Files.exists(file)
        ? parse(name, place, bytes(file)).from(file.toAbsolutePath())
        : new SettingsFile(name, place, List.of(), List.of(), "");
  }

  /** With its paths made absolute: a relative one starts where the file is. */
  private SettingsFile from(Path file) {
    List<Found> resolved =
        found.stream()
            .map(
                value ->
                    value.key().type() == Simple.FILE_PATH
                        ? value.with(Json.of(resolved(file, value)))
                        : value)
            .toList();
    return new SettingsFile(name, place, resolved, problems, heir);
  }

  private static String resolved(Path file, Found value) {
    return file.resolveSibling(value.value().asText().orElse("")).normalize().toString();
  }

  static SettingsFile parse(String name, Place place, byte[] bytes) {
    Reading reading = YamlReader.read(bytes);
    Checked checked =
        reading
            .content()
            .map(content -> Checker.check(place, content))
            .orElse(new Checked(List.of(), List.of()));
    var problems = new ArrayList<Problem>();
    reading.flaws().forEach(flaw -> problems.add(problem(name, flaw)));
    checked.flaws().forEach(flaw -> problems.add(problem(name, flaw)));
    return new SettingsFile(name, place, checked.found(), problems, "");
  }

  Optional<Found> find(String setting) {
    return found.stream().filter(each -> each.key().setting().equals(setting)).findFirst();
  }

  /** {@code gpush.yaml:3}; from a template {@code gpush.yaml:1 (template ddp:4)}. */
  String origin(Found value) {
    int line = value.at().line();
    return heir.isEmpty()
        ? name + ":" + line
        : heir + " (template " + name.replaceFirst("\\.yaml$", "") + ":" + line + ")";
  }

  /** The keys of it that have no effect yet. */
  List<Unsupported> unsupported() {
    var keys = new ArrayList<Unsupported>();
    for (Found value : found) {
      if (value.key().support() instanceof Support.Unsupported(var effect)) {
        keys.add(new Unsupported(value.path(), effect, origin(value)));
      }
    }
    return keys;
  }

  SettingsFile inheritedBy(String fileAndLine) {
    return new SettingsFile(name, place, found, problems, fileAndLine);
  }

  static Problem problem(String file, Flaw flaw) {
    String shown = CleanText.line(flaw.key(), MOST_KEY);
    return new Problem(
        file, flaw.at().line(), flaw.at().column(), shown, flaw.what(), flaw.suggestion());
  }

  /** One byte more than is allowed shows that it is too large. */
  static byte[] bytes(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new GpushException(new ConfigFailure.Unreadable(file.toString(), "it is not a file"));
    }
    try (InputStream input = Files.newInputStream(file)) {
      return input.readNBytes(YamlReader.MOST_BYTES + 1);
    } catch (IOException broken) {
      var failure = new ConfigFailure.Unreadable(file.toString(), FileReason.of(broken));
      throw new GpushException(failure, broken);
    }
  }
}
