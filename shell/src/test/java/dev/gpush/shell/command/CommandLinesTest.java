package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.text.ShellWords;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.command.run.RunCommand;
import dev.gpush.shell.command.session.DownCommand;
import dev.gpush.shell.command.session.UpCommand;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CommandLinesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      value = {
        "train.py --nodes 3 > 0",
        "--nodes 3 train.py > 2",
        "--nodes=3 train.py > 1",
        "-s box train.py > 2",
        "-sbox train.py > 1",
        "-qs box train.py > 2",
        "-qv --detach train.py > 2",
        "--detach -m mod > 1",
        "--detach -- -m mod > 1",
        "--frob train.py > 1",
        "--nodes > 1",
        "- > 0",
      })
  void optionsEndAtTheFirstWord(String line, int first) {
    var spec = CommandLines.of(new RunCommand(), new Common()).getCommandSpec();

    assertEquals(
        first, CommandLines.firstWord(spec, ShellWords.scan(line).lines().getFirst().words()));
  }

  @Test
  void whatIsNotGivenIsEmpty() {
    var up = new UpCommand();
    var common = new Common();

    CommandLines.parse("up", up, common, List.of());

    assertEquals(Optional.empty(), up.nodes);
    assertEquals(Optional.empty(), common.session);
  }

  @Test
  void wordsWithAtSignsAreNotFiles() {
    var down = new DownCommand();

    CommandLines.parse("down", down, new Common(), List.of("@/etc/passwd"));

    assertEquals(Optional.of("@/etc/passwd"), down.name);
  }
}
