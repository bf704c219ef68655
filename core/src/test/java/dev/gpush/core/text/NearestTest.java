package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NearestTest {
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

  @ParameterizedTest
  @CsvSource({
    "devbx, devbox",
    "dev, devbox",
    "devbox22, devbox2",
    "train, train",
    "trin, train",
    "x, -",
    "completely-else, -",
    "'', -",
  })
  void theNearestNameIsFound(String word, String nearest) {
    assertEquals(
        nearest, Nearest.one(word, List.of("train", "devbox2", "devbox")).orElse("-"), word);
  }

  @Test
  void nothingIsNearToNothing() {
    assertEquals(Optional.empty(), Nearest.one("devbox", List.of()));
  }
}
