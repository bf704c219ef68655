package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ShellQuoteTest {
  @Test
  void leavesPlainWordsAlone() {
    assertEquals(
        "sbatch --nodes=2 -o /tmp/a_b",
        ShellQuote.join(List.of("sbatch", "--nodes=2", "-o", "/tmp/a_b")));
    assertEquals(
        "'' 'a b' 'it'\\''s' '~' '$x'", ShellQuote.join(List.of("", "a b", "it's", "~", "$x")));
  }

  @Test
  void refusesWhatNoArgumentCanHold() {
    assertThrows(IllegalArgumentException.class, () -> ShellQuote.of("a\0b"));
  }

  @Test
  void aShellGivesBytesBackThatAreNotUtf8() throws Exception {
    byte[] bytes = HexFormat.of().parseHex("636166e92ec3a92027ff27f09f9880800a");
    String line = "printf %s " + ShellQuote.of(RawText.decode(bytes));

    Process shell = new ProcessBuilder("/bin/sh", "-c", line).start();

    assertArrayEquals(bytes, shell.getInputStream().readAllBytes(), line);
  }

  @Test
  void aShellGivesTheSameWordsBack() throws Exception {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("ShellQuoteTest: gpush.seed=" + seed);
    var random = new Random(seed);
    String letters = "ab '\"\\$`!*?[]{}()<>|&;#~\n\té-=%";
    var words = new ArrayList<String>();
    for (int i = 0; i < 200; i++) {
      var word = new StringBuilder();
      for (int size = random.nextInt(12); size > 0; size--) {
        word.append(letters.charAt(random.nextInt(letters.length())));
      }
      words.add(word.toString());
    }

    Process shell =
        new ProcessBuilder("/bin/sh", "-c", "printf '%s\\0' " + ShellQuote.join(words)).start();
    String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertEquals(String.join("\0", words) + "\0", said);
    assertEquals(0, shell.waitFor());
  }
}
