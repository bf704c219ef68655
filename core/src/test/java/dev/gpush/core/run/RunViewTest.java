package dev.gpush.core.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RunViewTest {
  private static List<String> title(String... words) {
    return new RunView(
            7,
            "devbox",
            RunKind.PROGRAM,
            RunView.Progress.starting(Instant.EPOCH),
            new RunView.Launched(List.of(words), 1, List.of(), 1, "command", "", false),
            "")
        .title();
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
