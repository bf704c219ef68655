package dev.gpush.shell.console;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TerminalTextTest {
  private static final Pattern ALLOWED = Pattern.compile("(?:[^\\p{Cntrl}]|\t|<\\[[ -?]*m)*");

  /** An escape is written as &lt;, a bell as &gt;. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          zwölf € ≤ 𝄞       ~ zwölf € ≤ 𝄞
          <[31mred          ~ <[31mred<[0m
          <[mred<[1;38;5;7m ~ <[mred<[1;38;5;7m<[0m
          a<[2Kb<[10;2Hc    ~ abc
          a<[?25ld          ~ ad
          a<]0;title>b      ~ ab
          a<]0;title<\\b    ~ ab
          a<Pd<\\b<Xc>d<^e> ~ abd
          a<_f>b            ~ ab
          a<]0;no end[31m   ~ a
          a<[12;3           ~ a
          a<                ~ a
          a<(Bb<#8c<cd      ~ abcd
          a>b               ~ ab
          """)
  void coloursPassAndEndWithTheLine(String printed, String shown) {
    byte[] text =
        printed.replace('<', '\u001b').replace('>', '\u0007').getBytes(StandardCharsets.UTF_8);

    assertEquals(
        shown.replace('<', '\u001b'), new String(TerminalText.of(text), StandardCharsets.UTF_8));
    assertEquals(shown.replaceAll("<\\[[0-9;]*m", ""), TerminalText.plain(text));
  }

  @Test
  void controlCharactersOfTwoBytesAreLeftOut() {
    assertEquals("a31mbc", shown("a\u00c2\u009b31mb\u00c2\u0085c"));
    assertEquals("a\u00c2\u00a0b", shown("a\u00c2\u00a0b"));
    assertEquals("a\u00e2\u0082", shown("a\u00e2\u0082"));
  }

  /** What stood between its bytes is left out. */
  @Test
  void noControlCharacterIsPutTogether() {
    assertFalse(shown("a\u00c2\u0007\u009b31m").contains("\u00c2\u009b"));
    assertFalse(shown("a\u00c2\u00c2\u009b\u009b31m").contains("\u00c2\u009b"));
  }

  @Test
  void nothingButColoursReachesTheTerminal() {
    long seed = System.nanoTime();
    var random = new Random(seed);
    String parts =
        "\u001b\u001b\u001b[[]P^_m;?10 a\u0007\\\n\t\u0000\u007f\u00c2\u00c2\u009b\u00a0\u00e2";

    for (int round = 0; round < 20_000; round++) {
      var text = new StringBuilder();
      for (int length = random.nextInt(20); length > 0; length--) {
        text.append(parts.charAt(random.nextInt(parts.length())));
      }
      String shown = shown(text.toString()).replace('\u001b', '<');
      assertTrue(ALLOWED.matcher(shown).matches(), seed + ": " + shown);
      assertFalse(shown.matches("(?s).*\u00c2[\u0080-\u009f].*"), seed + ": " + shown);
    }
  }

  /** A letter is a byte. */
  private static String shown(String text) {
    return new String(TerminalText.of(text.getBytes(ISO_8859_1)), ISO_8859_1);
  }
}
