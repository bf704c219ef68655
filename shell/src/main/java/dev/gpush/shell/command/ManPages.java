package dev.gpush.shell.command;

import dev.gpush.shell.command.CommandHelp.Row;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The help as manual pages, one for each command and one for all, in roff. They have no date and no
 * version, so that two builds of one commit make the same ones.
 */
final class ManPages {
  /** What roff would read as its own, or print as another character than the one to be copied. */
  private static final Pattern SPECIAL = Pattern.compile("[\\\\'`^~\"-]|[^\\x00-\\x7f]");

  private static final Map<String, String> ESCAPES =
      Map.of(
          "\\", "\\(rs", "'", "\\(aq", "`", "\\(ga", "^", "\\(ha", "~", "\\(ti", "\"", "\\(dq", "-",
          "\\-");

  private ManPages() {}

  /** By the names of their files. */
  static Map<String, String> all() {
    Map<String, String> pages = new TreeMap<>();
    var verbs = new Verbs();
    Map<String, CommandHelp> commands = new TreeMap<>();
    for (String verb : verbs.names()) {
      commands.put("gpush-" + verb, new CommandHelp(verb, verbs.make(verb).orElseThrow()));
    }
    commands.forEach((name, help) -> pages.put(name + ".1", ofCommand(name, help)));
    pages.put("gpush.1", ofAll(commands));
    return pages;
  }

  private static String ofCommand(String name, CommandHelp help) {
    return head(name, help.summary())
        + section("synopsis", line(help.synopsis()))
        + section(
            "description",
            help.paragraphs().stream().map(ManPages::line).collect(Collectors.joining(".PP\n")))
        + section("options", rows(help.rows()))
        + section("options of all commands", rows(help.commonRows()))
        + section("example", verbatim(help.example()))
        + section("see also", ".BR gpush (1)\n");
  }

  private static String ofAll(Map<String, CommandHelp> commands) {
    List<String> screen = HelpScreen.text().lines().toList();
    return head("gpush", screen.getFirst().replaceFirst("^gpush: ", ""))
        + section("synopsis", line("gpush [COMMAND [OPTIONS]]"))
        + section("description", verbatim(screen.subList(2, screen.size())))
        + section(
            "commands",
            commands.entrySet().stream()
                .map(each -> ".TP\n.BR " + escaped(each.getKey()) + " (1)\n" + summary(each))
                .collect(Collectors.joining()));
  }

  private static String summary(Map.Entry<String, CommandHelp> command) {
    return line(command.getValue().summary());
  }

  private static String head(String name, String summary) {
    String title = escaped(name.toUpperCase(Locale.ROOT));
    return ".TH "
        + title
        + " 1 \"\" gpush \"gpush manual\"\n"
        + section("name", escaped(name) + " \\- " + escaped(summary) + "\n");
  }

  /** Nothing for a section without content. */
  private static String section(String title, String content) {
    return content.isEmpty() ? "" : ".SH " + title.toUpperCase(Locale.ROOT) + "\n" + content;
  }

  private static String rows(List<Row> rows) {
    return rows.stream().map(ManPages::row).collect(Collectors.joining());
  }

  private static String row(Row row) {
    Function<String, String> bold = name -> "\\fB" + escaped(name) + "\\fR";
    String names = row.names().stream().map(bold).collect(Collectors.joining(", "));
    String value = row.value().isEmpty() ? "" : "\\fI" + escaped(row.value()) + "\\fR";
    return ".TP\n" + (names + " " + value).strip() + "\n" + line(row.says());
  }

  private static String verbatim(List<String> lines) {
    return lines.stream().map(ManPages::line).collect(Collectors.joining("", ".nf\n", ".fi\n"));
  }

  /** A line of text; a dot at its beginning is none of a macro. */
  private static String line(String text) {
    return (text.startsWith(".") ? "\\&" : "") + escaped(text) + "\n";
  }

  static String escaped(String text) {
    return SPECIAL
        .matcher(text)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    ESCAPES.getOrDefault(
                        found.group(), "\\[u%04X]".formatted(found.group().codePointAt(0)))));
  }
}
