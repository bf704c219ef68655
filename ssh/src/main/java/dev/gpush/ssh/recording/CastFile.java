package dev.gpush.ssh.recording;

import dev.gpush.core.file.HomePart;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * The file of one recording. Only whole lines stay in it: after a write that failed it is cut back,
 * and once there is room again a mark says how many bytes are missing. Used by one thread.
 */
final class CastFile {
  private final Path folder;
  private final Path path;
  private final long limitBytes;
  private final byte[] header;
  private final GrowingBytes waiting = new GrowingBytes();
  private final CastLines lines;

  private Optional<FileChannel> channel = Optional.empty();
  private long size;
  private boolean isFull;
  private boolean isEnded;

  // bytes of the terminal: in waiting, named as missing in waiting, not recorded and not named
  private long unwritten;
  private long named;
  private long missing;

  /**
   * @param began when the terminal began, in nanoseconds
   */
  CastFile(
      Path folder,
      String name,
      long limitBytes,
      RecordedTerminal terminal,
      long began,
      Instant time) {
    this.folder = folder;
    this.path = folder.resolve(name);
    this.limitBytes = limitBytes;
    this.lines = new CastLines(began, waiting);
    this.header = CastLines.header(terminal, time).getBytes(StandardCharsets.UTF_8);
  }

  Path path() {
    return path;
  }

  boolean isEnded() {
    return isEnded;
  }

  /** Bytes that wait for {@link #flush}. */
  int waiting() {
    return waiting.size();
  }

  /**
   * @param lost bytes before it that found no room in memory
   */
  void output(long nanos, ByteBuffer bytes, long lost) {
    missing += lost;
    if (isFull) {
      return;
    }
    sayWhatIsMissing(nanos);
    unwritten += bytes.remaining();
    lines.output(nanos, bytes);
    if (size + waiting.size() > limitBytes) {
      lines.end(nanos);
      lines.mark(nanos, "gpush: the rest is not recorded: the limit is " + limitBytes + " bytes");
      isFull = true;
    }
  }

  void resized(long nanos, RecordedTerminal.Size to) {
    if (!isFull) {
      lines.resized(nanos, to);
    }
  }

  void end(long nanos, long lost) {
    missing += lost;
    if (!isFull) {
      sayWhatIsMissing(nanos);
      lines.end(nanos);
    }
    isEnded = true;
  }

  private void sayWhatIsMissing(long nanos) {
    if (missing > 0) {
      lines.end(nanos);
      lines.mark(nanos, "gpush: " + missing + " bytes are not recorded");
      named += missing;
      missing = 0;
    }
  }

  /** Writes what waits; on failure it is missing. Returns the bytes written. */
  long flush() throws IOException {
    try {
      long before = size;
      FileChannel file = channel.isPresent() ? channel.orElseThrow() : open();
      long to = size;
      if (to == 0) {
        to += write(file, ByteBuffer.wrap(header));
      }
      to += write(file, waiting.view());
      size = to;
      return size - before;
    } catch (IOException failed) {
      missing += unwritten + named;
      lines.forget();
      cutBack();
      throw failed;
    } finally {
      waiting.clear();
      unwritten = 0;
      named = 0;
    }
  }

  private static long write(FileChannel file, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
    return bytes.limit();
  }

  private FileChannel open() throws IOException {
    HomePart.make(folder.resolveSibling(""));
    HomePart.make(folder);
    FileChannel opened =
        FileChannel.open(
            path,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    channel = Optional.of(opened);
    return opened;
  }

  private void cutBack() {
    if (channel.isPresent()) {
      try {
        channel.orElseThrow().truncate(size);
      } catch (IOException alsoFull) {
        // A reader leaves out the line that is cut.
      }
    }
  }

  void close() throws IOException {
    if (channel.isPresent()) {
      channel.orElseThrow().close();
      channel = Optional.empty();
    }
  }
}
