package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TypedCommandTest {
  @ParameterizedTest
  @CsvSource({
    "--gpus 2 --nodes 4, --nodes 2, gpush up --nodes 2 --gpus 2",
    "--gpus 4 --nodes 8, --nodes 4, gpush up --nodes 4 --gpus 4",
    "--nodes 8 --gpus A10:8, --gpus 8, gpush up --gpus 8 --nodes 8",
    "--nodes=8 --for 2h, --nodes 4, gpush up --nodes 4 --for 2h",
  })
  void optionsGetOtherValuesAndNothingElseChanges(String typed, String options, String line) {
    List<String> words = List.of(("up " + typed).split(" "));

    assertEquals(line, new TypedCommand(words).instead(List.of(options.split(" "))));
  }
}
