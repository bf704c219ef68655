package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SshConfigWordsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          Port 22                   | Port;22
          Port=22                   | Port;22
          Port = 22                 | Port;22
          User a=b                  | User;a=b
          IdentityFile "/a b/c d"   | IdentityFile;/a b/c d
          IdentityFile /a" "b       | IdentityFile;/a b
          Host a  b # c             | Host;a;b
          Host a#b                  | Host;a#b
          Host "# no"               | Host;# no
          # nothing                 | ``
          `  `                      | ``
          """)
  void splitsAsSshDoes(String line, String words) {
    List<String> expected = words.isEmpty() ? List.of() : List.of(words.split(";"));

    assertEquals(expected, SshConfigWords.split(line));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"", "\\", "${HOME}", "a\nb", "a\rb"})
  void refusesWhatNoWordCanHold(String text) {
    assertTrue(SshConfigWords.impossible(text).isPresent());
    assertThrows(IllegalArgumentException.class, () -> SshConfigWords.quote(text));
    assertThrows(IllegalArgumentException.class, () -> SshConfigWords.quoteInCommand(text));
  }

  @Test
  void whatIsWrittenIsReadAsOneWord() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("SshConfigWordsTest: gpush.seed=" + seed);
    var random = new Random(seed);
    String letters = "ab ='#%$~*?é/";
    for (int i = 0; i < 2000; i++) {
      var word = new StringBuilder();
      for (int l = random.nextInt(8); l >= 0; l--) {
        word.append(letters.charAt(random.nextInt(letters.length())));
      }
      String text = word.toString();
      assertEquals(Optional.empty(), SshConfigWords.impossible(text));

      assertEquals(
          List.of("IdentityFile", text.replace("%", "%%")),
          SshConfigWords.split("IdentityFile " + SshConfigWords.quote(text)));
    }
  }

  /** What ssh hands to the shell after it has replaced its tokens. */
  @ParameterizedTest
  @ValueSource(strings = {"plain", "it's", "a b", "100%", "$x`y`;&", "''"})
  void aShellReadsAWordOfACommandBack(String text) throws Exception {
    String line = SshConfigWords.quoteInCommand(text).replace("%%", "%");

    Process shell = new ProcessBuilder("/bin/sh", "-c", "printf %s " + line).start();

    assertEquals(
        text, new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8), line);
  }
}
