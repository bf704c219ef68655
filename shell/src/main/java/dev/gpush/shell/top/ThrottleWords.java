package dev.gpush.shell.top;

import dev.gpush.core.text.CleanText;
import java.util.List;
import java.util.Map;

/** Why a GPU's clock is lower than it could be, in words. */
final class ThrottleWords {
  private static final Map<String, String> WORDS =
      Map.of(
          "clocks-set", "clocks set",
          "power-cap", "power cap",
          "hw-slowdown", "hardware",
          "sync-boost", "sync boost",
          "sw-thermal", "heat",
          "hw-thermal", "heat",
          "power-brake", "power brake",
          "display-clocks", "display");

  /** No slowdown: it has nothing to do. */
  private static final String IDLE = "idle";

  private ThrottleWords() {}

  static String of(List<String> reasons) {
    List<String> words =
        reasons.stream()
            .filter(reason -> !reason.equals(IDLE))
            .map(reason -> WORDS.getOrDefault(reason, CleanText.line(reason, 20)))
            .distinct()
            .toList();
    return String.join(", ", words);
  }
}
