package dev.gpush.core.talk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StepCountTest {
  private static List<String> shown(int of) {
    var shown = new ArrayList<String>();
    var step =
        new Talk.Step() {
          @Override
          public void show(HowFar far) {
            shown.add(far.text());
          }

          @Override
          public void close() {}
        };
    var count = new StepCount(step, of, "read");
    for (int i = 0; i < of; i++) {
      count.add();
    }
    return shown;
  }

  @Test
  void showsTheBeginningTheEndAndHundredthsBetween() {
    assertEquals(List.of("0 of 2 read", "1 of 2 read", "2 of 2 read"), shown(2));
    List<String> many = shown(350);
    assertEquals(List.of("0 of 350 read", "3 of 350 read"), many.subList(0, 2));
    assertEquals(
        List.of("348 of 350 read", "350 of 350 read"), many.reversed().subList(0, 2).reversed());
  }

  @Test
  void nothingToDoIsNotShown() {
    assertEquals(List.of(), shown(0));
  }
}
