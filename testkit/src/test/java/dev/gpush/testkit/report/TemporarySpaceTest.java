package dev.gpush.testkit.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class TemporarySpaceTest {
  private static final Path FOLDER = Path.of("/tmp");

  @Test
  void aFullDiskIsOneSentence() {
    TemporarySpace.require(FOLDER, TemporarySpace.LEAST_BYTES);

    assertEquals(
        "no test was run, because /tmp has 1 MB free and tests need 1024 MB there; try: df -h /tmp",
        assertThrows(IllegalStateException.class, () -> TemporarySpace.require(FOLDER, 2_000_000))
            .getMessage());
  }
}
