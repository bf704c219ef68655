package dev.gpush.shell.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.console.ConsoleTalk.ProgressForm;
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

  private ConsoleTalk talk(Look look) {
    return talk(ProgressForm.of(false, false, look), look, false);
  }

  private ConsoleTalk talk(ProgressForm form, Look look, boolean yes) {
    return new ConsoleTalk(
        new CommandConsole(out, err, look),
        clock,
        each -> {
          tick = each;
          ticking = true;
          return () -> ticking = false;
        },
        _ -> answer,
        form,
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
    try (ConsoleTalk talk = talk(TERMINAL);
        Talk.Step _ = talk.step("linking")) {
      pass(400);
    }
    assertEquals("", seen());
  }

  @Test
  void onATerminalOneLineChangesAndGoesAway() {
    try (ConsoleTalk talk = talk(TERMINAL)) {
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
    try (ConsoleTalk talk = talk(TERMINAL);
        Talk.Step _ = talk.step("waiting")) {
      pass(1000);
      seen();
      talk.say("2 nodes granted");
      assertEquals("<start><clear>2 nodes granted\n<start>… waiting · 1s<clear>", seen());
    }
  }

  @Test
  void theNewestStepIsShown() {
    try (ConsoleTalk talk = talk(TERMINAL);
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
    try (ConsoleTalk talk = talk(TERMINAL)) {
      talk.say(message);
      assertEquals("run 1 goes on; logs -f 1 comes back to\n    it, stop 1 ends it\n", seen());
    }
    try (ConsoleTalk talk = talk(Look.plain())) {
      talk.say(message);
      assertEquals(message + "\n", seen());
    }
  }

  @Test
  void aLongLineIsCutAtTheWindow() {
    try (ConsoleTalk talk = talk(TERMINAL);
        Talk.Step _ = talk.step("x".repeat(100))) {
      pass(1000);
      assertEquals("<start>… " + "x".repeat(36) + "…<clear>", seen());
    }
    seen();
    try (ConsoleTalk talk = talk(new Look(true, false, 60, 60));
        Talk.Step _ = talk.step("x".repeat(100))) {
      pass(1000);
      assertEquals("<start>… " + "x".repeat(51) + "… · 1s<clear>", seen());
    }
  }

  @Test
  void elsewhereAStepOfSecondsIsOneLineOnce() {
    try (ConsoleTalk talk = talk(Look.plain());
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
    try (ConsoleTalk talk = talk(Look.plain());
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

  private ConsoleTalk events() {
    return talk(ProgressForm.of(false, true, Look.plain()), Look.plain(), false);
  }

  private static String event(String what, String detail, String done, String of, int since) {
    return "{\"event\":\"progress\",\"what\":\"%s\",\"detail\":\"%s\",\"done\":%s,\"of\":%s,\"since_s\":%d}\n"
        .formatted(what, detail, done, of, since);
  }

  private static String event(String what, String detail, int since) {
    return event(what, detail, "null", "null", since);
  }

  @Test
  void forProgramsAStepIsAnEventAndItsNewsAreOthers() {
    try (ConsoleTalk talk = events();
        Talk.Step step = talk.step("syncing 900 files")) {
      pass(499);
      assertEquals("", seen());
      pass(1);
      assertEquals(event("syncing 900 files", "", 0), seen());
      step.show(HowFar.count(312, 900, "sent"));
      pass(2999);
      assertEquals("", seen());
      pass(1);
      assertEquals(event("syncing 900 files", "312 of 900 sent", "312", "900", 3), seen());
      pass(5000);
      assertEquals("", seen());
    }
  }

  @Test
  void eventsOfALongWaitBecomeRare() {
    try (ConsoleTalk talk = events();
        Talk.Step step = talk.step("reserving")) {
      int hour = 3600;
      for (int i = 0; i < 8 * hour; i++) {
        step.detail("estimate " + i);
        pass(1000);
      }
      long events = seen().lines().count();
      assertTrue(events > 50 && events < 100, events + " events");
    }
  }

  @Test
  void aStepAroundOneIsAnEventAgainWhenItGoesOn() {
    try (ConsoleTalk talk = events();
        Talk.Step _ = talk.step("making the environment")) {
      for (String inner : List.of("setup: a", "setup: b")) {
        try (Talk.Step _ = talk.step(inner)) {
          pass(500);
          assertEquals(event(inner, "", 0), seen());
        }
        pass(2999);
        assertEquals("", seen());
      }
      pass(1);
      assertEquals(event("making the environment", "", 6), seen());
    }
  }

  @Test
  void whatIsTriedAgainForHoursIsAnEventNowAndThen() {
    try (ConsoleTalk talk = events();
        Talk.Step _ = talk.step("reaching the nodes")) {
      for (int i = 0; i < 500; i++) {
        try (Talk.Step _ = talk.step("linking 2 nodes")) {
          pass(5000);
        }
        pass(30_000);
      }
      long events = seen().lines().count();
      assertTrue(events > 20 && events < 100, events + " events");
    }
  }

  @Test
  void anEventIsOneLineOfJson() {
    try (ConsoleTalk talk = events();
        Talk.Step step = talk.step("setup: printf '\"\\n'")) {
      step.detail("node 0: \u001b[2J\"\r\n{}");
      pass(1000);
      String line = seen();
      assertEquals(1, line.lines().count());
      assertEquals("setup: printf '\"\\n'", Json.parse(line.strip()).text("what").orElseThrow());
    }
  }

  @Test
  void stepsAreEventsOnlyForProgramsWithoutATerminal() {
    assertEquals(ProgressForm.LINE, ProgressForm.of(false, true, TERMINAL));
    assertEquals(ProgressForm.EVENTS, ProgressForm.of(false, true, Look.plain()));
    assertEquals(ProgressForm.LINES, ProgressForm.of(false, false, Look.plain()));
    assertEquals(ProgressForm.QUIET, ProgressForm.of(true, true, Look.plain()));
  }

  @Test
  void quietSaysNothing() {
    try (ConsoleTalk talk = talk(ProgressForm.QUIET, TERMINAL, false);
        Talk.Step _ = talk.step("sending")) {
      talk.say("hello");
      pass(5000);
    }
    assertEquals("", seen());
  }

  @Test
  void closingStopsTheTicker() {
    ConsoleTalk talk = talk(TERMINAL);
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
    talk(TERMINAL).confirm("sure?", "--yes");
    answer = Optional.empty();
    talk(ProgressForm.LINE, TERMINAL, true).confirm("sure?", "--yes");

    var nobody =
        assertThrows(
            GpushException.class,
            () -> talk(ProgressForm.LINE, TERMINAL, true).confirm("sure?", "--discard"));
    assertEquals(new UsageFailure.NobodyToAsk("sure?", "--discard"), nobody.failure());
    answer = Optional.of("");
    var no = assertThrows(GpushException.class, () -> talk(TERMINAL).confirm("sure?", "--yes"));
    assertInstanceOf(UsageFailure.Declined.class, no.failure());
  }
}
