package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CleanTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "HF_TOKEN=abc train.py         | HF_TOKEN=*** train.py",
        "password: abc                 | password: ***",
        "{\"token\": \"abc\"}            | {\"token\": ***",
        "https://x/y?access_token=abc  | https://x/y?access_token=***",
        "--db-password=abc -v          | --db-password=*** -v",
        "train.py --api-key abc --lr 1 | train.py --api-key *** --lr 1",
        "Authorization: Bearer abc     | Authorization: ***",
        "got hf_abcdefghijklmnopqrstuv | got ***",
      })
  void secretsAreNotShown(String text, String shown) {
    assertEquals(shown, Clean.line(text));
    assertEquals(shown, Clean.masked(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cannot read data/secret: permission denied",
        "~/.token: no such file",
        "cannot read secret",
        "--tokenizer gpt2",
        "3 tokens: ok",
      })
  void pathsAndOtherWordsAre(String text) {
    assertEquals(text, Clean.line(text));
  }

  @Test
  void aWordAfterItsOptionIsOneWord() {
    var words = List.of("train.py", "--hf-token", "two words", "--lr", "1");

    assertEquals(List.of("train.py", "--hf-token", "***", "--lr", "1"), Clean.masked(words));
    assertEquals("train.py --hf-token '***' --lr 1", Clean.command(words));
  }
}
