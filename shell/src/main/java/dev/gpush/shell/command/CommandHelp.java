package dev.gpush.shell.command;

import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The help of one command: what it does, how it is called, its options, one example. */
final class CommandHelp {
  private static final int WIDTH = 80;

  private final String verb;
  private final CommandSpec spec;

  CommandHelp(String verb, Action action) {
    this.verb = verb;
    this.spec = CommandLines.of(action, new Common()).getCommandSpec();
  }

  /** The first line, without the name: imperative, at most 60 characters. */
  String summary() {
    return String.join(" ", spec.usageMessage().header());
  }

  /** The lines of the example, as they are typed and answered. */
  List<String> example() {
    return Arrays.asList(spec.usageMessage().footer());
  }

  String text() {
    var lines = new ArrayList<String>();
    lines.add(summary());
    lines.add("");
    lines.add("  " + synopsis());
    for (String paragraph : spec.usageMessage().description()) {
      lines.add("");
      lines.addAll(wrapped(paragraph, WIDTH));
    }
    List<String[]> rows = new ArrayList<>();
    for (PositionalParamSpec word : spec.positionalParameters()) {
      rows.add(new String[] {word.paramLabel(), String.join(" ", word.description())});
    }
    for (OptionSpec option : options(false)) {
      rows.add(row(option));
    }
    section(lines, rows);
    section(lines, options(true).stream().map(CommandHelp::row).toList());
    lines.add("");
    example().forEach(line -> lines.add(line.isEmpty() ? "" : "  " + line));
    return String.join("\n", lines) + "\n";
  }

  private String synopsis() {
    String[] custom = spec.usageMessage().customSynopsis();
    if (custom.length > 0) {
      return String.join(" ", custom);
    }
    String words =
        spec.positionalParameters().stream()
            .map(
                word ->
                    word.arity().min() == 0
                        ? " [" + word.paramLabel() + "]"
                        : " " + word.paramLabel())
            .collect(Collectors.joining());
    return "gpush " + verb + " [OPTIONS]" + words;
  }

  /** In the order of the source; those that all commands have, or those that only this one has. */
  private List<OptionSpec> options(boolean ofAll) {
    return spec.options().stream()
        .filter(option -> !option.hidden())
        .filter(option -> CommandLines.commonOptions().contains(option.longestName()) == ofAll)
        .toList();
  }

  private static String[] row(OptionSpec option) {
    String names = String.join(", ", option.names());
    String value = option.arity().min() > 0 ? " " + option.paramLabel() : "";
    return new String[] {names + value, String.join(" ", option.description())};
  }

  private static void section(List<String> lines, List<String[]> rows) {
    if (rows.isEmpty()) {
      return;
    }
    lines.add("");
    int column = rows.stream().mapToInt(row -> Width.of(row[0])).max().orElse(0) + 4;
    for (String[] row : rows) {
      String lead = "  " + row[0] + " ".repeat(column - 2 - Width.of(row[0]));
      for (String part : wrapped(row[1], WIDTH - column)) {
        lines.add(lead + part);
        lead = " ".repeat(column);
      }
    }
  }

  static List<String> wrapped(String text, int width) {
    var lines = new ArrayList<String>();
    var line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && Width.of(line.toString()) + 1 + Width.of(word) > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
