package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.shell.text.ShellEvent;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user sees in the window of a shell, row by row. */
final class ShellSightTest {
  @TempDir Path folder;

  private final FakeCommandRunner runner = new FakeCommandRunner();
  private ShellScreen screen;

  @BeforeEach
  void starts() throws Exception {
    runner.answers.put("__prompt", new Captured(0, "devbox · ✓G1 > \n", ""));
    screen = new ShellScreen(runner, folder, Loop.Manner.LIVE, 12);
    runner.said.add("status\tdevbox on local · 2 cpu nodes · ready · 1h idle · ✓G1");
    screen.awaitSight(PROMPT + STATE);
  }

  @AfterEach
  void ends() throws Exception {
    screen.close();
  }

  /** Writes lines, as a command does. */
  private void prints(int count) {
    runner.during =
        () -> {
          IntStream.rangeClosed(1, count)
              .forEach(line -> screen.terminal.writer().println("line " + line));
          screen.terminal.flush();
        };
  }

  @Test
  void thePromptHasTheStateBelow() throws Exception {
    screen.type("run tr");
    screen.awaitSight(
        """
        devbox · ✓G1 > run tr▮
        devbox on local · 2 cpu nodes · ready · 1h idle · ✓G1
        """);

    runner.said.add("event\t" + ShellEvent.of("run 7", "run 7 (t.py, 2 ranks) is done").line());
    runner.said.add("prompt\tdevbox · ✓G2 >");
    runner.said.add("status\tdevbox on local · 2 cpu nodes · ready · 1h idle · ✓G2");
    screen.awaitSight(
        """
        run 7 (t.py, 2 ranks) is done
        devbox · ✓G2 > run tr▮
        devbox on local · 2 cpu nodes · ready · 1h idle · ✓G2
        """);
  }

  @Test
  void aLineThatWasTypedStandsAlone() throws Exception {
    prints(2);
    screen.type("ps\r");

    screen.awaitSight(
        """
        devbox · ✓G1 > ps
        line 1
        line 2
        devbox · ✓G1 > ▮
        devbox on local · 2 cpu nodes · ready · 1h idle · ✓G1
        """);
  }

  @Test
  void aSearchHasThePlaceOfTheStateUntilItEnds() throws Exception {
    screen.type("ps\r");
    screen.awaitSight("devbox · ✓G1 > ps\n" + PROMPT + STATE);

    screen.type("\u0012");
    screen.awaitSight("devbox · ✓G1 > ps\n" + PROMPT + "bck-i-search: _\n");
    screen.type("\u0007");
    screen.awaitSight("devbox · ✓G1 > ps\n" + PROMPT + STATE);
  }

  @Test
  void aWindowThatGrowsOrShrinksLosesNothing() throws Exception {
    prints(20);
    screen.type("ps\r");
    screen.awaitSight(lines(11, 20) + PROMPT + STATE);

    screen.resize(100, 16);
    screen.awaitSight(lines(7, 20) + PROMPT + STATE);
    screen.resize(100, 10);
    screen.awaitSight(lines(13, 20) + PROMPT + STATE);
    // Room is made below for what this terminal has cut, and another one wraps.
    screen.resize(30, 12);
    screen.awaitSight(lines(12, 20) + PROMPT + "devbox on local · 2 cpu node…\n");
    screen.resize(100, 9);
    screen.awaitSight(lines(14, 20) + PROMPT);
  }

  private static final String PROMPT = "devbox · ✓G1 > ▮\n";
  private static final String STATE = "devbox on local · 2 cpu nodes · ready · 1h idle · ✓G1\n";

  private static String lines(int first, int last) {
    return String.join(
        "", IntStream.rangeClosed(first, last).mapToObj(line -> "line " + line + "\n").toList());
  }
}
