package dev.gpush.sync.watch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import java.util.OptionalLong;

/** What Linux allows one user to watch. */
final class InotifyLimits {
  static final String WATCHES = "max_user_watches";
  static final String INSTANCES = "max_user_instances";

  /** The rest is for other trees and other programs of the user, such as editors. */
  private static final int SHARE = 2;

  static final Path FOLDER = Path.of("/proc/sys/fs/inotify");

  private InotifyLimits() {}

  /** How many folders of one tree may be watched. */
  static int mostFolders() {
    long share = read(WATCHES).orElse(Long.MAX_VALUE) / SHARE;
    return (int) Math.min(share, Integer.MAX_VALUE);
  }

  /**
   * Such a file says that its size is 0, and answers a second read with what is left: one that
   * reads as many bytes as it expects, as {@code Files.readString} does, may see the first digit
   * only. A reader reads until the end.
   */
  static OptionalLong read(String limit) {
    try {
      return OptionalLong.of(
          Long.parseLong(Files.readAllLines(FOLDER.resolve(limit)).getFirst().strip()));
    } catch (IOException | NumberFormatException | NoSuchElementException unknown) {
      return OptionalLong.empty();
    }
  }

  /** For a sentence about a limit: {@code fs.inotify.max_user_watches (now 8192)}. */
  static String words(String limit) {
    OptionalLong now = read(limit);
    return "fs.inotify." + limit + (now.isPresent() ? " (now " + now.getAsLong() + ")" : "");
  }
}
