package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.client.Captured;
import dev.gpush.shell.text.ShellEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a shell shows while a line is typed. */
final class LiveLoopTest {
  private static final int ROWS = 24;
  private static final String STATUS = "devbox on local · ready";

  @TempDir Path folder;

  private final FakeCommandRunner runner = new FakeCommandRunner();

  LiveLoopTest() {
    runner.answers.put("__prompt", new Captured(0, "devbox · ✓G1 > \n", ""));
  }

  private ShellScreen screen(Loop.Manner manner, int rows) throws IOException {
    return new ShellScreen(runner, folder, manner, rows);
  }

  private void says(String word, String text) {
    runner.said.add(word + "\t" + text);
  }

  private void happens(String key, String text) {
    says("event", ShellEvent.of(key, text).line());
  }

  /** Something is taken when all before it was shown. */
  private void awaitAllHeard() throws InterruptedException {
    runner.said.transfer("nothing\t");
  }

  @Test
  void thePromptMovesAndEventsComeAboveTheLineThatIsTyped() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      screen.type("run tr");
      screen.await("run tr");

      happens("run 7", "run 7 (t.py, 2 ranks, 12m) is done");
      screen.await("run 7 (t.py, 2 ranks, 12m) is done");
      screen.await("run tr");
      says("prompt", "devbox · ✓G2 >");
      screen.await("2");
      says("status", STATUS);
      screen.await(STATUS);
      screen.type("ain.py\r");
      screen.type("exit\r");

      assertEquals(0, screen.status());
    }
    assertEquals(List.of("[__wake]", "[run, train.py]"), runner.done);
  }

  @Test
  void whileACommandHasTheTerminalNothingIsWritten() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      says("status", STATUS);
      screen.await(STATUS);
      String[] meanwhile = {"not run"};
      var heard = new CountDownLatch(1);
      runner.during =
          () -> {
            for (int i = 0; i < 3; i++) {
              happens("came a.py", "a.py came home from node 0");
            }
            says("event", ShellEvent.ofCommand("end devbox", "devbox was given back").line());
            says("prompt", "devbox · ✓G9 >");
            says("status", STATUS + " again");
            runner.whenLeft = heard::countDown;
            runner.said.add(FakeCommandRunner.GONE); // All is heard by then.
            await(heard);
            meanwhile[0] = screen.rest();
          };
      screen.type("down\r");
      screen.await("a.py came home from node 0 (3 times)");
      assertFalse(meanwhile[0].contains("a.py"), meanwhile[0]);
      assertFalse(meanwhile[0].contains("again"), meanwhile[0]);

      screen.type("\u0004");
      assertEquals(0, screen.status());
      assertFalse(screen.rest().contains("given back"), screen.rest());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aPlainTerminalGetsEventsBeforeTheNextPrompt() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.PLAIN, ROWS)) {
      screen.await("G1");
      says("status", STATUS);
      happens("run 7", "run 7 is done");
      says("prompt", "devbox · ✓G2 >");
      var heard = new CountDownLatch(1);
      runner.whenLeft = heard::countDown;
      runner.said.add(FakeCommandRunner.GONE);
      heard.await();
      assertEquals("", screen.rest().replaceAll("^[^a-z]*$", ""));

      screen.type("ps\r");
      String before = screen.await("run 7 is done");
      screen.await("G1");

      assertTrue(before.contains("ps"), before);
      assertFalse(before.contains(STATUS), before);
      screen.type("\u0004");
      assertEquals(0, screen.status());
    }
  }

  @Test
  void aGatewayThatEndsIsSaidOnceAndComesBackWithTheNextCommand() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      says("status", STATUS);
      says("prompt", "devbox · ✓G2 >");
      screen.await("2");
      runner.answers.clear();
      runner.said.add(FakeCommandRunner.GONE);
      screen.await("gpush");
      runner.said.add(FakeCommandRunner.GONE); // There is none: the watch has no line to hear.
      screen.type("ps\r");
      screen.await("the gateway has ended; sessions and runs go on");
      says("prompt", "devbox · ✓G3 >");
      screen.await("G3");

      screen.type("\u0004");
      assertEquals(0, screen.status());
      assertFalse(screen.rest().contains("gateway"), screen.rest());
    }
    assertEquals(List.of("[__wake]", "[ps]"), runner.done);
  }

  @Test
  void aGatewayThatIsStartedAgainUnderAShellIsSaidAndTheLineStays() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      says("status", STATUS);
      screen.type("run tr");
      screen.awaitLook(look -> look.startsWith("devbox · ✓G1 > run tr▮\n" + STATUS));
      says("seen", "1f2e devbox 7 6 7");
      runner.said.add(FakeCommandRunner.GONE);
      says("status", STATUS);
      screen.awaitLook(
          look ->
              look.startsWith("the gateway was started again\ndevbox · ✓G1 > run tr▮\n" + STATUS));

      screen.type("ain.py\r\u0004");
      assertEquals(0, screen.status());
    }
    assertEquals(List.of("[__wake]", "[run, train.py]"), runner.done);
    assertEquals(List.of("__watch", "__watch 1f2e devbox 7 6 7"), runner.watches);
  }

  @Test
  void tenThousandPastedLinesAreCarriedOutInOrder() throws Exception {
    List<String> lines = IntStream.range(0, 10_000).mapToObj(line -> "ps -s n" + line).toList();
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      screen.type("\u001b[200~" + String.join("\n", lines) + "\u001b[201~\r");
      screen.type("exit\r");
      assertEquals(0, screen.status());
    }
    assertEquals(10_001, runner.done.size());
    assertEquals("[ps, -s, n0]", runner.done.get(1));
    assertEquals("[ps, -s, n9999]", runner.done.getLast());
  }

  @Test
  void enterDoesWhatThePromptAsksOfTheUser() throws Exception {
    var three = new CountDownLatch(3);
    runner.during = three::countDown;
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      says("needs", "login hpc");
      awaitAllHeard();
      screen.type("\u001b[200~\n\nps\n\nruns\n\n\u001b[201~\r"); // Asks for nothing else.
      screen.type("\r");
      screen.await("login hpc");
      three.await();
      says("needs", "");
      awaitAllHeard();
      screen.type("\r");
      screen.type("exit\r");

      assertEquals(0, screen.status());
    }
    assertEquals(List.of("[__wake]", "[ps]", "[runs]", "[login, hpc]"), runner.done);
  }

  @Test
  void aSecondEnterLogsInAgainOnlyIfTheFirstFailed() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      says("needs", "login hpc");
      awaitAllHeard();
      int[] failures = {1};
      runner.during = () -> runner.statuses.put("[login, hpc]", failures[0]-- > 0 ? 1 : 0);
      screen.type("\r\r\r\rexit\r");

      assertEquals(0, screen.status());
    }
    assertEquals(List.of("[__wake]", "[login, hpc]", "[login, hpc]"), runner.done);
  }

  /** There a prompt that moved on would not be seen. */
  @Test
  void inAPlainTerminalEnterAnswersThePromptThatIsThere() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.PLAIN, ROWS)) {
      screen.await("G1");
      says("needs", "login hpc");
      awaitAllHeard();
      screen.type("\r");
      screen.await("G1");
      screen.type("\r");
      screen.await("login hpc");
      screen.await("G1");
      screen.type("exit\r");

      assertEquals(0, screen.status());
    }
    assertEquals(List.of("[__wake]", "[login, hpc]"), runner.done);
  }

  @Test
  void aWindowThatChangesItsSizeWhileItIsDrawnIsWholeInTheEnd() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      says("status", STATUS);
      screen.type("run tr");
      for (int i = 1; i <= 30; i++) {
        happens("run " + i, "run " + i + " is done, and its line is longer than the window is");
        says("prompt", "devbox · ✓G" + i + " >");
        screen.resize(1 + 37 * i % 120, 1 + 11 * i % 40);
      }
      screen.resize(80, ROWS);
      says("prompt", "devbox · ✓G31 >");
      awaitAllHeard();

      screen.type("\u000c"); // Ctrl-L
      screen.awaitLook(look -> look.startsWith("devbox · ✓G31 > run tr▮\n" + STATUS + "\n~"));
    }
  }

  @Test
  void ofAThousandChangesTheNewestIsShownAndTheLineIsUndisturbed() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, 12)) {
      screen.await("G1");
      for (int i = 1; i <= 1000; i++) {
        happens("run " + i, "run " + i + " is done");
        says("prompt", "devbox · ✓G" + i + " >");
        if (i % 100 == 0) {
          screen.type("" + i / 100 % 10);
        }
      }
      screen.awaitLook(
          look ->
              look.startsWith("run 990 is done\n")
                  && look.contains("\nrun 1000 is done\ndevbox · ✓G1000 > 1234567890▮\n"));
    }
  }

  @Test
  void aWindowWithFewRowsHasNoStatusLine() throws Exception {
    try (ShellScreen screen = screen(Loop.Manner.LIVE, 9)) {
      screen.await("G1");
      says("status", STATUS);
      says("prompt", "devbox · ✓G2 >");
      assertFalse(screen.await("2").contains(STATUS));

      screen.resize(60, 12);
      screen.await(STATUS);
      screen.type("\u0003");
      screen.type("\u0004");
      assertEquals(0, screen.status());
    }
  }

  @Test
  void theEndLeavesNoThread() throws Exception {
    var left = new CountDownLatch(1);
    runner.whenLeft = left::countDown;
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      screen.type("\u0004");
      assertEquals(0, screen.status());

      assertEquals(0, left.getCount());
    }
  }

  @Test
  void whatIsStoppedStopsThePasteToo() throws Exception {
    runner.statuses.put("[run, left.py]", 148);
    runner.statuses.put("[run, stopped.py]", 130);
    runner.statuses.put("[run, failed.py]", 1);
    try (ShellScreen screen = screen(Loop.Manner.PLAIN, ROWS)) {
      for (String first :
          List.of("cd none", "run left.py", "pwd", "run stopped.py", "run failed.py")) {
        screen.await("G1");
        screen.type("\u001b[200~" + first + "\nps -s " + first.replace(' ', '-') + "\u001b[201~\r");
      }
      screen.await("G1");
      screen.type("\u0004");

      assertEquals(0, screen.status());
    }
    assertEquals(
        List.of(
            "[__wake]",
            "[run, left.py]",
            "[ps, -s, pwd]",
            "[run, stopped.py]",
            "[run, failed.py]",
            "[ps, -s, run-failed.py]"),
        runner.done);
  }

  @Test
  void linesThatWerePastedAfterCdAreOfTheOtherFolder() throws Exception {
    Path other = Files.createDirectory(folder.resolve("other")).toRealPath();
    var left = new CountDownLatch(2);
    runner.whenLeft = left::countDown;
    runner.during = () -> assertEquals(other, runner.folders.getLast());
    try (ShellScreen screen = screen(Loop.Manner.LIVE, ROWS)) {
      screen.await("G1");
      screen.type("\u001b[200~cd other\nps\u001b[201~\r");
      screen.await("G1");
      screen.await("G1");
      happens("run 7", "run 7 is done");
      screen.await("run 7 is done");
      screen.type("\u0004");

      assertEquals(0, screen.status());
    }
    assertEquals(List.of("[__wake]", "[ps]"), runner.done);
    assertEquals(0, left.getCount());
  }

  @Test
  void aTerminalMayBePlain() {
    assertEquals(Loop.Manner.LIVE, Loop.manner("xterm-256color", Map.of("NO_COLOR", "")));
    assertEquals(Loop.Manner.PLAIN, Loop.manner("xterm", Map.of("NO_COLOR", "1")));
    assertEquals(Loop.Manner.PLAIN, Loop.manner("xterm", Map.of("GPUSH_PLAIN", "1")));
    assertEquals(Loop.Manner.PLAIN, Loop.manner("dumb", Map.of()));
    assertEquals(Loop.Manner.PLAIN, Loop.manner("dumb-color", Map.of()));
  }
}
