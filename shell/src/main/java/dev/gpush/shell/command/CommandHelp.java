package dev.gpush.shell.command;

import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.text.Prose;
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

  /**
   * An option or an argument.
   *
   * @param names of an option
   * @param value the label of what follows it, or of the argument; may be empty
   */
  record Row(List<String> names, String value, String says) {
    Row {
      names = List.copyOf(names);
    }

    /** As it is typed: {@code -s, --session NAME}. */
    String typed() {
      return (String.join(", ", names) + " " + value).strip();
    }
  }

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

  List<String> paragraphs() {
    return Arrays.asList(spec.usageMessage().description());
  }

  /** What only this command takes: arguments, then options, in the order of the source. */
  List<Row> rows() {
    var rows = new ArrayList<Row>();
    for (PositionalParamSpec word : spec.positionalParameters()) {
      rows.add(new Row(List.of(), word.paramLabel(), String.join(" ", word.description())));
    }
    rows.addAll(options(false));
    return rows;
  }

  /** The options that all commands have. */
  List<Row> commonRows() {
    return options(true);
  }

  String text() {
    var lines = new ArrayList<String>();
    lines.add(summary());
    lines.add("");
    lines.add("  " + synopsis());
    for (String paragraph : paragraphs()) {
      lines.add("");
      lines.addAll(Prose.lines("", "", paragraph, WIDTH));
    }
    section(lines, rows());
    section(lines, commonRows());
    lines.add("");
    example().forEach(line -> lines.add(line.isEmpty() ? "" : "  " + line));
    return String.join("\n", lines) + "\n";
  }

  String synopsis() {
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

  private List<Row> options(boolean ofAll) {
    return spec.options().stream()
        .filter(option -> !option.hidden())
        .filter(option -> CommandLines.commonOptions().contains(option.longestName()) == ofAll)
        .map(CommandHelp::row)
        .toList();
  }

  private static Row row(OptionSpec option) {
    String value = option.arity().min() > 0 ? option.paramLabel() : "";
    return new Row(List.of(option.names()), value, String.join(" ", option.description()));
  }

  private static void section(List<String> lines, List<Row> rows) {
    if (rows.isEmpty()) {
      return;
    }
    lines.add("");
    int column = rows.stream().mapToInt(row -> Width.of(row.typed())).max().orElse(0) + 4;
    for (Row row : rows) {
      String lead = "  " + row.typed() + " ".repeat(column - 2 - Width.of(row.typed()));
      lines.addAll(Prose.lines(lead, " ".repeat(column), row.says(), WIDTH));
    }
  }
}
