package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ShellWordsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "run train.py --lr 3e-4 ~ run|train.py|--lr|3e-4",
        "exec \"echo hi; exit 7\" ~ exec|echo hi; exit 7",
        "a 'b c'd\"e f\" ~ a|b cde f",
        "a\\ b '' \"\" ~ a b||",
        "'it'\\''s' ~ it's",
        "\"a\\\"b\\\\c\\d\" ~ a\"b\\c\\d",
        "run # all of it ~ run",
        "a#b ~ a#b",
        "'# no' ~ # no",
      })
  void splitsAsAShellDoes(String line, String words) {
    assertEquals(List.of(List.of(words.split("\\|", -1))), lines(line));
  }

  @Test
  void emptyLinesHaveNoWords() {
    assertEquals(List.of(), lines(" \t "));
    assertEquals(List.of(), lines("# nothing"));
  }

  @Test
  void anOpenQuoteIsUnfinished() {
    assertFalse(ShellWords.scan("run 'a").isFinished());
    assertFalse(ShellWords.scan("run \"a'").isFinished());
    assertFalse(ShellWords.scan("run a\\").isFinished());
    assertEquals(List.of(List.of("run", "ab")), lines("run a\\\nb"));
  }

  @Test
  void whatIsJoinedIsSplitIntoTheSame() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    String letters = "ab '\"\\$`#~*\n\t€=-";
    for (int i = 0; i < 2000; i++) {
      var words = new ArrayList<String>();
      for (int w = random.nextInt(4); w >= 0; w--) {
        var word = new StringBuilder();
        for (int l = random.nextInt(6); l > 0; l--) {
          word.append(letters.charAt(random.nextInt(letters.length())));
        }
        words.add(word.toString());
      }

      String line = ShellQuote.join(words);
      assertEquals(List.of(words), lines(line), "seed " + seed);
      assertTrue(ShellWords.scan(line).isFinished(), "seed " + seed);
    }
  }

  private static List<List<String>> lines(String text) {
    return ShellWords.scan(text).lines().stream().map(ShellWords.Typed::words).toList();
  }
}
