package dev.gpush.core.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Makes room for a new log file: the old ones are {@code NAME.1}, the newest, to {@code NAME.4}. A
 * process that has the file open goes on writing into {@code NAME.1}.
 */
public final class LogRotation {
  /** Enough to find the gateway before the one that failed, and the one before that. */
  static final int KEPT = 4;

  private LogRotation() {}

  /** The oldest is gone afterwards; nothing happens where there is no log. */
  public static void rotate(Path log) throws IOException {
    for (int number = KEPT - 1; number >= 0; number--) {
      Path file = numbered(log, number);
      if (Files.exists(file)) {
        Files.move(file, numbered(log, number + 1), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private static Path numbered(Path log, int number) {
    return number == 0 ? log : log.resolveSibling(log.getFileName() + "." + number);
  }
}
