package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.Sha256;
import dev.gpush.core.task.Clock;
import dev.gpush.sync.tree.Hashes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Hashes files that may be written to at the same time. For one thread. */
public final class FileReading {
  private static final int BUFFER_BYTES = 256 << 10;

  /** For files that tell no size, or grow. */
  private static final int SMALLEST_BUFFER = 8 << 10;

  /** A file that changed while it was read is read again this many times … */
  private static final int TRIES = 5;

  /** … after this long: an editor's save is over by then. */
  private static final Duration PAUSE = Duration.ofMillis(10);

  /**
   * Some editors empty a file before they write it; a file that became empty so lately is waited
   * for.
   */
  private static final long EMPTY_NANOS = 50_000_000;

  /**
   * A file that held still while it was read.
   *
   * @param readAt when reading began
   */
  record Content(ScannedFile file, FileStamp.Look look, long readAt, String hash) {}

  private final Path root;
  private final Clock clock;

  FileReading(Path root, Clock clock) {
    this.root = root;
    this.clock = clock;
  }

  /** Told of a file that cannot be read. */
  @FunctionalInterface
  interface Unreadable {
    void at(ScannedFile file, GpushException why);
  }

  /**
   * Files that vanish meanwhile are left out.
   *
   * @param isRead called after each file
   */
  List<Content> read(List<ScannedFile> files, Unreadable unreadable, Runnable isRead)
      throws InterruptedException {
    var contents = new ArrayList<Content>();
    for (ScannedFile file : files) {
      try {
        read(file).ifPresent(contents::add);
      } catch (GpushException failed) {
        unreadable.at(file, failed);
      }
      isRead.run();
    }
    return contents;
  }

  private Optional<Content> read(ScannedFile file) throws InterruptedException {
    try {
      for (int i = 0; i < TRIES; i++) {
        FileStamp.Look before = waitUntilFilled(file.file(root));
        if (!before.isFile()) {
          return Optional.empty();
        }
        long readAt = FileStamp.nanos(clock.now());
        String hash = hash(file.file(root));
        if (FileStamp.look(file.file(root)).stamp().equals(before.stamp())) {
          return Optional.of(new Content(file, before, readAt, hash));
        }
        clock.sleep(PAUSE);
      }
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    } catch (IOException broken) {
      throw unreadable(file, FileReason.of(broken));
    }
    throw unreadable(file, "it changes faster than it can be read");
  }

  private FileStamp.Look waitUntilFilled(Path file) throws IOException, InterruptedException {
    FileStamp.Look look = FileStamp.look(file);
    long age = FileStamp.nanos(clock.now()) - look.stamp().modified();
    if (look.stamp().size() > 0 || age < 0 || age >= EMPTY_NANOS) {
      return look;
    }
    clock.sleep(Duration.ofNanos(EMPTY_NANOS - age));
    return FileStamp.look(file);
  }

  /** SHA-256 of a file; a link is not followed. */
  public static String hash(Path file) throws IOException {
    MessageDigest digest = Sha256.digest();
    try (SeekableByteChannel channel =
        Files.newByteChannel(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      var buffer =
          ByteBuffer.allocate(Math.clamp(channel.size() + 1, SMALLEST_BUFFER, BUFFER_BYTES));
      while (channel.read(buffer.clear()) >= 0) {
        digest.update(buffer.flip());
      }
    }
    return Hashes.hex(digest.digest());
  }

  private GpushException unreadable(ScannedFile file, String reason) {
    return new GpushException(new SyncFailure.Unreadable(file.path(), reason));
  }
}
