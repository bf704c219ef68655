package dev.gpush.shell.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class EventFoldTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final EventFold fold = new EventFold(Duration.ofSeconds(10));

  private List<String> due(long seconds) {
    return fold.due(seconds * SECOND).stream().map(ShellEvent::shown).toList();
  }

  @Test
  void anEventIsShownOnceAndItsRepeatsLaterAsOne() {
    fold.add(ShellEvent.of("came a.py", "a.py came home"));
    assertEquals(List.of("a.py came home"), due(100));
    assertEquals(Optional.empty(), fold.next(100 * SECOND));

    fold.add(ShellEvent.of("came a.py", "a.py came home"));
    fold.add(ShellEvent.of("run 7", "run 7 is done"));
    fold.add(ShellEvent.of("came a.py", "a.py came home"));
    assertEquals(List.of("run 7 is done"), due(104));
    assertEquals(Optional.of(Duration.ofSeconds(6)), fold.next(104 * SECOND));
    assertEquals(List.of(), due(109));
    assertEquals(List.of("a.py came home (2 times)"), due(110));
    assertEquals(List.of(), due(200));
  }

  @Test
  void whatEventsNameIsPutTogether() {
    fold.add(came(1, "a.py"));
    fold.add(came(7, "c.py", "b.py"));
    fold.add(came(2, "d.py", "a.py"));
    assertEquals(List.of("d.py, a.py, c.py and 6 more came home"), due(100));

    fold.add(came(1, "a.py"));
    fold.add(came(1, "a.py"));
    assertEquals(List.of("a.py came home"), due(110));
  }

  private static ShellEvent came(int count, String... names) {
    return new ShellEvent("came", "came home", false, count, List.of(names));
  }

  @Test
  void ofManyOnlyTheNewestAreKept() {
    for (int i = 0; i < 1000; i++) {
      fold.add(ShellEvent.of("run " + i, "run " + i + " is done"));
    }

    List<String> lines = due(0);

    assertEquals(21, lines.size());
    assertEquals("980 earlier events are not shown", lines.getFirst());
    assertEquals("run 999 is done", lines.getLast());
  }

  @Test
  void aLineIsReadAsItWasWritten() {
    ShellEvent event =
        new ShellEvent("held a\tb", "a\u001b[31m\tb is held\n", true, 3, List.of("a\tb", "c"));

    assertEquals(Optional.of(event), ShellEvent.parse(event.line()));
    assertEquals(-1, event.shown().indexOf('\u001b'));
    assertEquals(Optional.empty(), ShellEvent.parse("run 7"));
    assertEquals(Optional.empty(), ShellEvent.parse("run\ttrue\t0\ttext"));
  }
}
