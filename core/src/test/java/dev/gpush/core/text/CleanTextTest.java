package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CleanTextTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\n",
        "\r\n",
        "\t",
        "\0",
        "\u007f",
        "\u0085",
        "\u009b",
        "\u001b[31m",
        "\u001b[?25l",
        "\u001b",
        "\u2028",
        "\u2029",
        "\u061c",
        "\u200b",
        "\u200e",
        "\u200f",
        "\u202a",
        "\u202e",
        "\u2060",
        "\u2066",
        "\u2069",
        "\ufeff",
        "\u001b[1m\n\u202e"
      })
  void whatIsUnsafeBecomesOneSpace(String unsafe) {
    assertEquals("a b", CleanText.line("a" + unsafe + "b"));
    assertEquals("a", CleanText.line(unsafe + "a" + unsafe));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "plain", "two  spaces", "Grüße", "日本語", "שלום", "👨‍👩‍👧", "می‌خواهم"})
  void whatIsSafeStays(String safe) {
    assertEquals(safe, CleanText.line(safe));
  }

  @ParameterizedTest
  @CsvSource({
    "abc,     3, abc",
    "abcd,    3, abc…",
    "ab😀cd,  3, ab…",
    "ab😀cd,  4, ab😀…",
  })
  void isCutBetweenCharacters(String text, int most, String cut) {
    assertEquals(cut, CleanText.line(text, most));
  }

  @Test
  void aVeryLongTextIsCut() {
    assertEquals("x".repeat(10) + "…", CleanText.line("\u001b[1m" + "x".repeat(10_000_000), 10));
  }
}
