package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.shell.command.call.Common;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class ManPagesTest {
  private static final Path GOLDEN = Path.of("../src/test/resources/golden/man/gpush-extend.1");

  /** A line of roff: a macro that man pages have, or text in which nothing else is special. */
  private static final Pattern LINE =
      Pattern.compile(
          "\\.(TH|SH|BR) .+|\\.(TP|PP|nf|fi)"
              + "|(?!\\.)(\\\\&\\.)?([ !#-&(-,./0-Z\\[\\]_a-}]|\\\\(-|\\((rs|aq|ga|ha|ti|dq)|f[BIR]"
              + "|\\[u[0-9A-F]{4,6}]))*");

  private static final Pattern OPTION =
      Pattern.compile("\\\\fB((?:\\\\-)+[^\\\\]+(?:\\\\-[^\\\\]+)*)\\\\fR");

  static List<String> names() {
    return new Verbs().names();
  }

  @Test
  void everyCommandHasAPageAndTheyHaveOneOfAll() {
    var expected = new TreeSet<>(names().stream().map(name -> "gpush-" + name + ".1").toList());
    expected.add("gpush.1");

    assertEquals(expected, ManPages.all().keySet());
    String all = ManPages.all().get("gpush.1");
    for (String name : names()) {
      assertTrue(all.contains("\n.BR gpush\\-" + name + " (1)\n"), name);
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void aPageHasTheOptionsAndTheTextOfTheHelp(String name) {
    var action = new Verbs().make(name).orElseThrow();
    var spec = CommandLines.of(action, new Common()).getCommandSpec();
    var help = new CommandHelp(name, action);
    String page = ManPages.all().get("gpush-" + name + ".1");

    List<String> options =
        OPTION.matcher(page).results().map(ManPagesTest::plain).sorted().toList();
    assertEquals(CommandLines.visible(spec).stream().sorted().toList(), options);
    for (String line : help.example()) {
      assertTrue(page.contains("\n" + ManPages.escaped(line) + "\n"), line);
    }
    for (String paragraph : help.paragraphs()) {
      assertTrue(page.contains("\n" + ManPages.escaped(paragraph) + "\n"), paragraph);
    }
  }

  private static String plain(MatchResult option) {
    return option.group(1).replace("\\-", "-");
  }

  @Test
  void noLineIsMisreadByRoff() {
    var wrong = new ArrayList<String>();
    ManPages.all()
        .forEach(
            (name, page) ->
                page.lines()
                    .filter(line -> !LINE.matcher(line).matches())
                    .forEach(line -> wrong.add(name + ": " + line)));

    assertEquals(List.of(), wrong);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "a\\b | a\\(rsb",
        "--no-wait | \\-\\-no\\-wait",
        ".venv or ./x | .venv or ./x",
        "'it' \"is\" | \\(aqit\\(aq \\(dqis\\(dq",
        "~/x ^ | \\(ti/x \\(ha",
        "2×8 … | 2\\[u00D7]8 \\[u2026]",
      })
  void specialCharactersAreEscaped(String text, String roff) {
    assertEquals(roff, ManPages.escaped(text));
  }

  @Test
  void aPageIsAsItWasRead() throws IOException {
    String page = ManPages.all().get("gpush-extend.1");
    if ("write".equals(System.getProperty("gpush.golden"))) {
      Files.createDirectories(GOLDEN.resolveSibling("."));
      Files.writeString(GOLDEN, page);
    }

    assertEquals(Files.readString(GOLDEN), page);
  }

  @Test
  void helpWritesThemIntoAFolder(@TempDir Path folder) throws IOException {
    var desk = new Desk();
    desk.folder = folder;
    Files.writeString(folder.resolve("file"), "");

    FakeInvocation client = desk.client("gpush help --man share/man1");
    assertEquals(0, desk.call(client));
    assertEquals(
        ManPages.all().get("gpush-run.1"),
        Files.readString(folder.resolve("share/man1/gpush-run.1")));
    assertTrue(client.errText().contains("wrote " + ManPages.all().size() + " manual pages"));
    assertEquals(2, desk.call(desk.client("gpush help --man file")));
    assertEquals(2, desk.call(desk.client("gpush help --man share run")));
  }
}
