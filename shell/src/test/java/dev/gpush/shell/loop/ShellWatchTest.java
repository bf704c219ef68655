package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.shell.text.ShellEvent;
import dev.gpush.testkit.fake.ManualClock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class ShellWatchTest {
  private final FakeCommandRunner runner = new FakeCommandRunner();
  private final List<String> shown = new ArrayList<>();
  private final ShellWatch watch =
      new ShellWatch(runner, Loop.Manner.LIVE, this::show, new ManualClock());

  private boolean isEdited;

  /** The line begins when the watch has just found none. */
  private void show(Supplier<LiveReader.Around> news) {
    if (isEdited) {
      shown.addAll(news.get().above());
      Thread.currentThread().interrupt();
    } else {
      isEdited = true;
      watch.show();
    }
  }

  @Test
  void whatComesWhileALineBeginsIsShownAboveIt() {
    runner.said.add("event\t" + ShellEvent.of("run 7", "run 7 is done").line());

    assertThrows(InterruptedException.class, watch::run);

    assertEquals(List.of("run 7 is done"), shown);
  }

  @Test
  void whatACommandHasSaidIsNoNewsDuringTheNextCommand() {
    watch.begins("down");
    watch.ended();
    watch.begins("ps");
    String said = ShellEvent.ofCommand("session", "devbox was given back").line();
    runner.said.add("event\t" + said);
    watch.ended();

    assertThrows(InterruptedException.class, watch::run);

    assertEquals(List.of(), shown);
  }
}
