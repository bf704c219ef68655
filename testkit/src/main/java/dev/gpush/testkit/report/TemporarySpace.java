package dev.gpush.testkit.report;

import java.nio.file.Path;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Ends a run of tests before the first one, with one sentence, where the disk of temporary files is
 * full: every test would fail with another message. Found by JUnit as a service.
 */
public final class TemporarySpace implements LauncherSessionListener {
  /** About twice what the tests of all modules have there at once. */
  static final long LEAST_BYTES = 1L << 30;

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Path folder = Path.of(System.getProperty("java.io.tmpdir"));
    require(folder, folder.toFile().getUsableSpace());
  }

  static void require(Path folder, long free) {
    if (free < LEAST_BYTES) {
      throw new IllegalStateException(
          "no test was run, because %s has %d MB free and tests need %d MB there; try: df -h %s"
              .formatted(folder, free >> 20, LEAST_BYTES >> 20, folder));
    }
  }
}
