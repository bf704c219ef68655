package dev.gpush.shell.render;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.text.Nearest;
import dev.gpush.core.text.ShellQuote;
import dev.gpush.shell.text.ShellWords;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@link ShellWords} and {@link Nearest}. */
final class WordsTest {
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
    assertEquals(List.of(List.of(words.split("\\|", -1))), ShellWords.scan(line).lines());
  }

  @Test
  void emptyLinesHaveNoWords() {
    assertEquals(List.of(), ShellWords.scan(" \t ").lines());
    assertEquals(List.of(), ShellWords.scan("# nothing").lines());
  }

  @Test
  void anOpenQuoteIsUnfinished() {
    assertFalse(ShellWords.scan("run 'a").isFinished());
    assertFalse(ShellWords.scan("run \"a'").isFinished());
    assertFalse(ShellWords.scan("run a\\").isFinished());
    assertEquals(List.of(List.of("run", "ab")), ShellWords.scan("run a\\\nb").lines());
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

      var scan = ShellWords.scan(ShellQuote.join(words));
      assertEquals(List.of(words), scan.lines(), "seed " + seed);
      assertTrue(scan.isFinished(), "seed " + seed);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "rnu, run",
    "stpo, stop",
    "rins, runs",
    "temp, templates",
    "donw, down",
    "--node, --nodes",
    "zzz, ''",
    "gatway, gateway",
    "'', ''",
    "PS, ps"
  })
  void guessesTypingErrors(String typed, String meant) {
    List<String> known =
        List.of("run", "runs", "stop", "ps", "down", "templates", "gateway", "--nodes", "--gpus");

    assertEquals(meant, Nearest.to(typed, known).stream().findFirst().orElse(""));
  }

  @Test
  void countsSwapsAsOneError() {
    assertEquals(1, Nearest.distance("rnu", "run"));
    assertEquals(3, Nearest.distance("kitten", "sitting"));
    assertEquals(4, Nearest.distance("", "four"));
  }
}
