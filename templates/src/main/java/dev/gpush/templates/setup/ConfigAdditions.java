package dev.gpush.templates.setup;

import dev.gpush.templates.schema.Checker;
import dev.gpush.templates.schema.Checker.Checked;
import dev.gpush.templates.schema.Found;
import dev.gpush.templates.schema.JsonSchema;
import dev.gpush.templates.schema.Place;
import dev.gpush.templates.setup.BackendBlocks.Block;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Puts blocks into the text of a config.yaml and changes no other byte of it. The result is read
 * again: it counts only if every value of before is there, and the new ones, and nothing else.
 */
final class ConfigAdditions {
  private static final String HEAD =
      """
      # Your backends: the places that gpush may ask for nodes. gpush init wrote this; edit it freely.
      # gpush config shows what counts in a folder, gpush backends what each place has.

      # defaults:
      #   backends: [NAME, NAME]   # the places to ask, in this order; none: all, this machine last
      #   lease: {idle: 1h}        # nodes are given back after this time without activity

      backends:
      """;

  private ConfigAdditions() {}

  /** A file of these blocks alone; empty where gpush could not read it. */
  static Optional<String> fresh(List<Block> blocks) {
    String head = JsonSchema.modeline(Place.PERSON) + HEAD;
    return Optional.of(head + text(blocks, 2, "\n")).filter(text -> values(text).isPresent());
  }

  /** The blocks as lines below {@code backends:}. */
  static String text(List<Block> blocks, int indent, String lineEnd) {
    return blocks.stream()
        .flatMap(block -> block.lines().stream())
        .map(line -> " ".repeat(indent) + line + lineEnd)
        .collect(Collectors.joining());
  }

  /** Empty where it cannot be done safely. */
  static Optional<String> added(String before, List<Block> blocks) {
    if (before.replace("\r\n", "").contains("\r")) {
      // YAML ends a line there; the lines below would be others.
      return Optional.empty();
    }
    String lineEnd = before.contains("\r\n") ? "\r\n" : "\n";
    Optional<Yaml.Mapping> content = YamlReader.read(bytes(before)).content();
    Optional<Yaml.Entry> backends =
        content.stream()
            .flatMap(mapping -> mapping.entries().stream())
            .filter(entry -> entry.key().equals("backends"))
            .findFirst();
    String after =
        backends.isEmpty()
            ? before
                + (before.isEmpty() || before.endsWith("\n") ? "" : lineEnd)
                + "backends:"
                + lineEnd
                + text(blocks, 2, lineEnd)
            : within(before, content.orElseThrow(), backends.get(), blocks, lineEnd);
    return isWhole(before, after, blocks) ? Optional.of(after) : Optional.empty();
  }

  private static String within(
      String before,
      Yaml.Mapping content,
      Yaml.Entry backends,
      List<Block> blocks,
      String lineEnd) {
    int first = backends.at().line();
    int indent =
        backends.value() instanceof Yaml.Mapping mapping && !mapping.entries().isEmpty()
            ? mapping.entries().getFirst().at().column() - 1
            : 2;
    List<String> lines = lines(before);
    int end =
        content.entries().stream()
            .mapToInt(entry -> entry.at().line() - 1)
            .filter(line -> line >= first)
            .min()
            .orElse(lines.size());
    // What follows in the first column is about what comes next.
    while (end > first && lines.get(end - 1).matches("(?:#.*|\\.\\.\\.|---|)\\s*")) {
      end--;
    }
    String head = String.join("", lines.subList(0, end));
    return head
        + (head.endsWith("\n") ? "" : lineEnd)
        + text(blocks, indent, lineEnd)
        + String.join("", lines.subList(end, lines.size()));
  }

  /** Each with its end. */
  private static List<String> lines(String text) {
    return List.of(text.split("(?<=\n)", -1));
  }

  private record Value(String path, String value) {
    private static Value of(Found found) {
      return new Value(found.path(), found.value().write());
    }
  }

  private static boolean isWhole(String before, String after, List<Block> blocks) {
    Optional<List<Value>> old = values(before);
    Optional<List<Value>> all = values(after);
    Optional<List<Value>> own = fresh(blocks).flatMap(ConfigAdditions::values);
    if (old.isEmpty() || all.isEmpty() || own.isEmpty()) {
      return false;
    }
    var expected = new ArrayList<>(old.get());
    expected.addAll(own.get());
    return expected.size() == all.get().size() && all.get().containsAll(expected);
  }

  /** Empty for a text with a mistake. */
  private static Optional<List<Value>> values(String text) {
    YamlReader.Reading reading = YamlReader.read(bytes(text));
    Checked checked =
        reading
            .content()
            .map(content -> Checker.check(Place.PERSON, content))
            .orElse(new Checked(List.of(), List.of()));
    return reading.flaws().isEmpty() && checked.flaws().isEmpty()
        ? Optional.of(checked.found().stream().map(Value::of).toList())
        : Optional.empty();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
