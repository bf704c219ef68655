package dev.gpush.shell.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.text.Look;
import dev.gpush.testkit.fake.ManualClock;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ConsoleTalkTest {
  private static final Look TERMINAL = new Look(true, false, 40, 40);

  private final ManualClock clock = new ManualClock();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private Runnable tick = () -> {};
  private boolean ticking;
  private Optional<String> answer = Optional.empty();

  private ConsoleTalk talk(Look look, boolean quiet, boolean yes) {
    return new ConsoleTalk(
        new CommandConsole(out, err, look),
        clock,
        each -> {
          tick = each;
          ticking = true;
          return () -> ticking = false;
        },
        _ -> answer,
        quiet,
        yes);
  }

  private void pass(int milliseconds) {
    clock.advance(Duration.ofMillis(milliseconds));
    tick.run();
  }

  /** With the escapes made visible. */
  private String seen() {
    String text = err.toString(StandardCharsets.UTF_8);
    err.reset();
    return text.replace("\u001b[K", "<clear>").replace("\r", "<start>");
  }

  @Test
  void shortStepsAreNotShown() {
    try (ConsoleTalk talk = talk(TERMINAL, false, false);
        Talk.Step _ = talk.step("linking")) {
      pass(400);
    }
    assertEquals("", seen());
  }

  @Test
  void onATerminalOneLineChangesAndGoesAway() {
    try (ConsoleTalk talk = talk(TERMINAL, false, false)) {
      try (Talk.Step step = talk.step("sending")) {
        pass(500);
        assertEquals("<start>… sending · 0s<clear>", seen());
        step.detail("312 of 900 files");
        pass(2500);
        assertEquals("<start>… sending: 312 of 900 files · 3s<clear>", seen());
      }
      assertEquals("<start><clear>", seen());
      pass(1000);
      assertEquals("", seen());
    }
  }

  @Test
  void aLineBetweenPushesTheProgressDown() {
    try (ConsoleTalk talk = talk(TERMINAL, false, false);
        Talk.Step _ = talk.step("waiting")) {
      pass(1000);
      seen();
      talk.say("2 nodes granted");
      assertEquals("<start><clear>2 nodes granted\n<start>… waiting · 1s<clear>", seen());
    }
  }

  @Test
  void theNewestStepIsShown() {
    try (ConsoleTalk talk = talk(TERMINAL, false, false);
        Talk.Step _ = talk.step("outer")) {
      pass(1000);
      seen();
      try (Talk.Step _ = talk.step("inner")) {
        pass(1000);
        assertEquals("<start>… inner · 1s<clear>", seen());
      }
      seen();
      pass(1000);
      assertEquals("<start>… outer · 3s<clear>", seen());
    }
  }

  @Test
  void aMessageOnATerminalEndsItsLinesBetweenWords() {
    String message = "run 1 goes on; logs -f 1 comes back to it, stop 1 ends it";
    try (ConsoleTalk talk = talk(TERMINAL, false, false)) {
      talk.say(message);
      assertEquals("run 1 goes on; logs -f 1 comes back to\n    it, stop 1 ends it\n", seen());
    }
    try (ConsoleTalk talk = talk(Look.plain(), false, false)) {
      talk.say(message);
      assertEquals(message + "\n", seen());
    }
  }

  @Test
  void aLongLineIsCutAtTheWindow() {
    try (ConsoleTalk talk = talk(TERMINAL, false, false);
        Talk.Step _ = talk.step("x".repeat(100))) {
      pass(1000);
      assertEquals("<start>… " + "x".repeat(36) + "…<clear>", seen());
    }
    seen();
    try (ConsoleTalk talk = talk(new Look(true, false, 60, 60), false, false);
        Talk.Step _ = talk.step("x".repeat(100))) {
      pass(1000);
      assertEquals("<start>… " + "x".repeat(51) + "… · 1s<clear>", seen());
    }
  }

  @Test
  void elsewhereAStepOfSecondsIsOneLineOnce() {
    try (ConsoleTalk talk = talk(Look.plain(), false, false);
        Talk.Step step = talk.step("sending")) {
      pass(2900);
      assertEquals("", seen());
      step.detail("312 of 900 files");
      pass(100);
      assertEquals("sending: 312 of 900 files …\n", seen());
      step.detail("more");
      pass(5000);
    }
    assertEquals("", seen());
  }

  @Test
  void elsewhereAStepAroundOneThatWasSaidIsNotSaid() {
    try (ConsoleTalk talk = talk(Look.plain(), false, false);
        Talk.Step _ = talk.step("making the environment")) {
      for (String step : List.of("setup: a", "setup: b")) {
        try (Talk.Step _ = talk.step(step)) {
          pass(2999);
          assertEquals("", seen());
          pass(1);
          assertEquals(step + " …\n", seen());
        }
        pass(3000);
      }
    }
    assertEquals("", seen());
  }

  @Test
  void quietSaysNothing() {
    try (ConsoleTalk talk = talk(TERMINAL, true, false);
        Talk.Step _ = talk.step("sending")) {
      talk.say("hello");
      pass(5000);
    }
    assertEquals("", seen());
  }

  @Test
  void closingStopsTheTicker() {
    ConsoleTalk talk = talk(TERMINAL, false, false);
    talk.step("sending");
    assertEquals(true, ticking);

    talk.close();
    talk.close();

    assertEquals(false, ticking);
    assertEquals("", seen());
  }

  @Test
  void questionsAreAnsweredByPeopleOrBeforehand() {
    answer = Optional.of(" Yes ");
    talk(TERMINAL, false, false).confirm("sure?", "--yes");
    answer = Optional.empty();
    talk(TERMINAL, false, true).confirm("sure?", "--yes");

    var nobody =
        assertThrows(
            GpushException.class, () -> talk(TERMINAL, false, true).confirm("sure?", "--discard"));
    assertEquals(new UsageFailure.NobodyToAsk("sure?", "--discard"), nobody.failure());
    answer = Optional.of("");
    var no =
        assertThrows(
            GpushException.class, () -> talk(TERMINAL, false, false).confirm("sure?", "--yes"));
    assertInstanceOf(UsageFailure.Declined.class, no.failure());
  }
}
