package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.text.ShellWords;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.text.Width;
import dev.gpush.testkit.fixture.PlainEnglish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HelpTopicTest {
  /** At the beginning of a cell, or after a semicolon in it; a comma ends it. */
  private static final Pattern COMMAND =
      Pattern.compile("(?<= {2}|; )gpush [a-z]+[^;,]*?(?= {2}|[;,]|$)");

  /** Is there room, get, list, go there, run, read, stop, copy, reach a port, give back. */
  private static final List<String> TASKS =
      List.of(
          "gpush up --nodes 2 --gpus H100:8 --dry-run",
          "gpush up --nodes 2 --gpus H100:8",
          "gpush ps.*",
          "ssh devbox, ssh devbox-1; gpush code",
          "gpush run train.py --lr 3e-4",
          "gpush logs -f.*",
          "gpush stop.*",
          "gpush cp .*",
          "gpush forward 8888",
          "gpush down");

  @ParameterizedTest
  @EnumSource
  void eachCommandInItCanBeParsed(HelpTopic topic) {
    List<String> commands =
        topic
            .text()
            .lines()
            .filter(line -> line.startsWith("  "))
            .flatMap(line -> COMMAND.matcher(line).results())
            .map(found -> found.group())
            .toList();

    assertTrue(commands.size() > 5, commands::toString);
    for (String command : commands) {
      List<String> words = ShellWords.scan(command).lines().getFirst().words();
      Action action = new Verbs().make(words.get(1)).orElseThrow();
      CommandLines.parse(words.get(1), action, new Common(), words.subList(2, words.size()));
    }
  }

  @ParameterizedTest
  @EnumSource
  void itFitsATerminalAndIsPlain(HelpTopic topic) {
    assertTrue(topic.text().lines().allMatch(line -> Width.of(line) <= 80));
    assertTrue(topic.summary().length() <= 60, topic.summary());
    PlainEnglish.check(topic.text());
  }

  @ParameterizedTest
  @EnumSource(names = {"SLURM", "KUBERNETES", "SKYPILOT"})
  void theGuideBeginsWithTheSameTable(HelpTopic topic) throws IOException {
    String guide = Files.readString(Path.of("../docs/guide/from-" + topic.word() + ".md"));
    String table =
        topic
            .text()
            .lines()
            .filter(line -> line.matches(" {2}\\S.{36}.*"))
            .map(line -> "  " + line)
            .collect(Collectors.joining("\n"));

    assertTrue(guide.contains(table), () -> "copy this into the guide:\n" + table);
  }

  /** The same ten in each guide, so that a reader of two finds them side by side. */
  @ParameterizedTest
  @EnumSource(names = {"SLURM", "KUBERNETES", "SKYPILOT"})
  void theGuideHasTheTenCommonTasks(HelpTopic topic) throws IOException {
    List<String> here =
        Files.readAllLines(Path.of("../docs/guide/from-" + topic.word() + ".md")).stream()
            .filter(line -> line.matches(" {4}\\S.* {2,}\\S.*"))
            .map(line -> line.strip().replaceFirst(".*? {2,}", ""))
            .toList();

    List<String> missing =
        TASKS.stream().filter(task -> here.stream().noneMatch(line -> line.matches(task))).toList();

    assertEquals(10, TASKS.size());
    assertEquals(List.of(), missing);
  }

  @Test
  void helpPrintsThem() {
    var desk = new Desk();
    FakeInvocation client = desk.client("gpush help skypilot");

    assertEquals(0, desk.call(client));
    assertEquals(HelpTopic.SKYPILOT.text(), client.outText());
  }
}
