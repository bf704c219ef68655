package dev.gpush.shell.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class SymbolsTest {
  @Test
  void theLocaleDecidesAsInC() {
    assertTrue(Symbols.areShown(Map.of("LANG", "en_US.UTF-8")));
    assertTrue(Symbols.areShown(Map.of("LANG", "C", "LC_CTYPE", "C.utf8")));
    assertTrue(Symbols.areShown(Map.of("LANG", "de_DE.UTF-8", "LC_ALL", "")));
    assertFalse(Symbols.areShown(Map.of("LANG", "de_DE.UTF-8", "LC_ALL", "C")));
    assertFalse(Symbols.areShown(Map.of("LANG", "de_DE.ISO-8859-1")));
    assertFalse(Symbols.areShown(Map.of()));
  }

  @Test
  void aUserCanDoWithoutThem() {
    assertFalse(Symbols.areShown(Map.of("LANG", "C.UTF-8", "GPUSH_PLAIN", "1")));
    assertTrue(Symbols.areShown(Map.of("LANG", "C.UTF-8", "GPUSH_PLAIN", "")));
  }

  @Test
  void wordsAreInTheirPlace() {
    assertEquals(
        "devbox 2x8 H100 - 5h12m left - synced G42 > ",
        Symbols.inWords("devbox 2×8 H100 · 5h12m left · ✓G42 > "));
    assertEquals(
        "3 outgoing incoming waiting, 2 held, run 7 on G41",
        Symbols.inWords("↑3 ↓ waiting, 2 held, run 7 on G41"));
    assertEquals(
        "devbox queued 4 of 19 - ~14:20 - Prior... > ",
        Symbols.inWords("devbox queued 4 of 19 · ≈14:20 · Prior… > "));
  }
}
