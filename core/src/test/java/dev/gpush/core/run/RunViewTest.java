package dev.gpush.core.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RunViewTest {
  private static List<String> title(String... words) {
    return view(List.of(words), List.of()).title();
  }

  private static RunView view(List<String> words, List<String> slots) {
    return new RunView(
        7,
        "devbox",
        RunKind.PROGRAM,
        RunView.Progress.starting(Instant.EPOCH),
        new RunView.Launched(words, 1, slots, 1, "command", "", false),
        "");
  }

  @Test
  void nodesAreThoseOfReadableClaims() {
    List<String> slots = List.of("10:0", "2:1", "2:0", "", "all", "x:1", ":0", "9999999:1", "3");

    assertEquals(List.of(2, 3, 10), List.copyOf(view(List.of(), slots).nodes()));
  }

  @Test
  void aTextForTheShellIsShownByItsName() {
    assertEquals(
        List.of("t.sky.yaml"), title("bash", "-c", "export A=1\nexec bash", "t.sky.yaml", "", "x"));
  }

  @Test
  void ofSeveralLinesTheFirstIsShown() {
    assertEquals(List.of("sh", "-c", "make …"), title("sh", "-c", "\n  make\n  make install\n"));
    assertEquals(List.of("train.py", "--lr", "1"), title("train.py", "--lr", "1"));
  }
}
