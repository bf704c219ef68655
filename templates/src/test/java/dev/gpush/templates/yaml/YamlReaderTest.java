package dev.gpush.templates.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.templates.yaml.YamlReader.Reading;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the golden file cannot hold: large files, and what is read of a file with mistakes. */
final class YamlReaderTest {
  private static Reading read(String text) {
    return YamlReader.read(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> values(Reading reading) {
    return reading.content().stream()
        .flatMap(content -> content.entries().stream())
        .map(entry -> entry.value() instanceof Yaml.Scalar scalar ? scalar.text() : "no scalar")
        .toList();
  }

  @Test
  void aTabIsNamed() {
    Reading reading = read("a: 1\nb:\t2\n");

    assertEquals(
        List.of(new Flaw(new Position(2, 3), "", "a tab; YAML is indented with spaces")),
        reading.flaws());
  }

  @Test
  void textOfAnyLengthIsText() {
    String hex = "0x" + "f".repeat(100_000);
    String octal = "0" + "7".repeat(100_000);
    String words = "x ".repeat(100_000).strip();

    Reading reading = read("a: %s\nb: %s\nc: %s\nd: \"%s\"\n".formatted(hex, octal, words, words));

    assertEquals(List.of(hex, octal, words, words), values(reading));
  }

  @Test
  void whatIsWrongAboveAKeyThatIsNoWordIsSaidToo() {
    Reading reading = read("a: !x 1\na: 2\nb:\n  c: *d\n  {{ e }}: 3\nf: !y 4\n");

    assertEquals(
        List.of(
            "1:4 a tags such as !x are not supported",
            "2:1 a is given twice, first in line 1",
            "4:6 b.c refers to an anchor that is not defined above it",
            "5:3 b a key must be a word"),
        reading.flaws().stream()
            .map(
                flaw ->
                    flaw.at().line()
                        + ":"
                        + flaw.at().column()
                        + " "
                        + flaw.key()
                        + " "
                        + flaw.what())
            .toList());
  }

  @Test
  void aBombOfAliasesCostsNothing() {
    var bomb = new StringBuilder("a0: &a0 {x: y}\n");
    for (int i = 1; i < 5000; i++) {
      bomb.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }

    Reading reading = read(bomb.toString());

    assertEquals(10_000, Composer.MOST_VALUES);
    assertTrue(reading.flaws().getFirst().what().startsWith("more than 10000 values"));
  }
}
