package dev.gpush.sync.scan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** What changes when a file's content does; times in nanoseconds since 1970. */
record FileStamp(long size, long modified, long changed, long inode) {
  /**
   * A little more than two kernel ticks: a change so soon after another may leave the same stamp.
   */
  private static final long FINE_NANOS = 50_000_000;

  /** The same on file systems whose times have no fractions. */
  private static final long COARSE_NANOS = 2_000_000_000;

  private static final long MILLI = 1_000_000;

  /** One look at a path, not following a link. */
  record Look(FileStamp stamp, int mode) {
    private static final int TYPE = 0170000;
    private static final int FOLDER = 0040000;

    /** As of a folder of which nothing is known. */
    static Look ofFolder() {
      return new Look(new FileStamp(0, 0, 0, 0), FOLDER);
    }

    boolean isFile() {
      return (mode & TYPE) == 0100000;
    }

    boolean isFolder() {
      return (mode & TYPE) == FOLDER;
    }

    boolean isLink() {
      return (mode & TYPE) == 0120000;
    }

    boolean isExecutable() {
      return (mode & 0100) != 0;
    }
  }

  static Look look(Path path) throws IOException {
    Map<String, Object> found =
        Files.readAttributes(
            path, "unix:mode,size,lastModifiedTime,ctime,ino", LinkOption.NOFOLLOW_LINKS);
    var stamp =
        new FileStamp(
            number(found, "size"),
            nanos(found, "lastModifiedTime"),
            nanos(found, "ctime"),
            number(found, "ino"));
    return new Look(stamp, (int) number(found, "mode"));
  }

  private static long number(Map<String, Object> found, String name) {
    return ((Number) Objects.requireNonNull(found.get(name), name)).longValue();
  }

  private static long nanos(Map<String, Object> found, String name) {
    return ((FileTime) Objects.requireNonNull(found.get(name), name)).to(TimeUnit.NANOSECONDS);
  }

  /**
   * Whether any later change of the file shows in the stamp, for one that was read at this moment.
   */
  boolean isSettled(long at) {
    boolean isFine = modified % MILLI != 0 || changed % MILLI != 0;
    return Math.max(modified, changed) + (isFine ? FINE_NANOS : COARSE_NANOS) < at;
  }

  /**
   * Whether only its modification time was in the future for a file that was read at this moment,
   * as after {@code touch}: it never settles, and a later change moves the inode's time. Where a
   * server's clock is ahead, both are.
   */
  boolean isAhead(long at) {
    return modified - COARSE_NANOS > at && changed + COARSE_NANOS < at;
  }

  static long nanos(Instant moment) {
    return moment.getEpochSecond() * 1_000_000_000L + moment.getNano();
  }
}
