package dev.gpush.sync.home;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OutputNamesTest {
  @ParameterizedTest
  @CsvSource({
    "train.py, true",
    "conf/model.yaml, true",
    "data/words.txt, true",
    ".github/workflows/ci.yml, true",
    "results/plot.py, true",
    ".env, true",
    "train.log, false",
    "logs/step.txt, false",
    "results/metrics.json, false",
    ".idea/workspace.xml, false",
    ".vscode/settings.json, false",
    ".cache/words.py, false",
    "a/.train.py.swp, false",
    "notes.md~, false",
    "events.out.tfevents.17, false",
  })
  void whatAPersonHasSavedIsToldFromWhatProgramsWrite(String path, boolean isWritten) {
    assertEquals(isWritten, OutputNames.isWritten(path));
  }
}
