package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The releases of YAML do not agree on which words are numbers, dates or true. Here the letters of
 * the file decide, and the key that they stand behind.
 */
final class PlainWordsTest {
  @TempDir private Path folder;

  private Folders folders() {
    return Folders.in(folder);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "on",
        "off",
        "yes",
        "no",
        "y",
        "N",
        "True",
        "TRUE",
        "False",
        "0o17",
        "0x1F",
        "0b11",
        "1_000",
        "1e3",
        "1.0",
        ".5",
        ".inf",
        "-.inf",
        ".NaN",
        "190:20:30",
        "10:30",
        "+1",
        "2026-11-23",
        "2026-11-23T10:00:00Z",
        "2026-11-23 10:00:00",
        "1.2.3",
        "=",
        "nULL"
      })
  void isTextWhereTextIsWantedAndNoNumberAndNeitherTrueNorFalse(String word) {
    Folders folders =
        folders().with("gpush.yaml", "env: {A: %s}\npython: %s".formatted(word, word));
    assertEquals("{\"A\":\"" + word + "\"} gpush.yaml:1", folders.setting("env"));
    assertEquals('"' + word + "\" gpush.yaml:2", folders.setting("python"));

    String block = "backends: {hpc: {kind: slurm, exclusive: " + word + "}}";
    folders.with("gpush.yaml", "nodes: " + word).with("config.yaml", block);
    assertEquals(
        List.of(
            "gpush.yaml:1:8 nodes: must be a whole number from 1 to 256, not " + word,
            "config.yaml:1:42 backends.hpc.exclusive: must be true or false, not " + word),
        folders.problems());
  }

  @ParameterizedTest
  @ValueSource(strings = {"~", "null", "Null", "NULL"})
  void isNoValue(String word) {
    Folders folders =
        folders()
            .with("gpush.yaml", "nodes: %s\nenv: {A: %s, B: '%s'}".formatted(word, word, word));

    assertEquals(
        List.of(
            "gpush.yaml:1:8 nodes: has no value; it must be a whole number from 1 to 256",
            "gpush.yaml:2:10 env.A: has no value; write \"\" for an empty one"),
        folders.problems());
  }

  @ParameterizedTest
  @CsvSource({"017,17", "08,8", "1,1", "000000256,256"})
  void isAWholeNumberInTenDigits(String word, String number) {
    assertEquals(
        number + " gpush.yaml:1", folders().with("gpush.yaml", "nodes: " + word).setting("nodes"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "yes", "null", "~", "1", "1.5", "0x10", "2026-11-23"})
  void isAKeyAsItIsWritten(String word) {
    assertEquals(
        List.of("gpush.yaml:1:1 " + word + ": unknown key"),
        folders().with("gpush.yaml", word + ": 1").problems().stream()
            .map(problem -> problem.replaceFirst(", did you mean .*", ""))
            .toList());
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 18, 400, 5000})
  void isNoNumberOfManyDigits(int digits) {
    String word = "9".repeat(digits);
    String shown = digits <= 40 ? word : word.substring(0, 40) + "…";

    assertEquals(
        List.of("gpush.yaml:1:8 nodes: must be a whole number from 1 to 256, not " + shown),
        folders().with("gpush.yaml", "nodes: " + word).problems());
  }
}
