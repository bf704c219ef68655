package dev.gpush.ssh.access;

import dev.gpush.core.file.FileReason;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A file and what it says; read again when it is another one. Thread-safe.
 *
 * @param <T> what it says
 */
final class ParsedFile<T> {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  /** A thousand keys are a tenth of it. */
  private static final int MOST_BYTES = 8 << 20;

  private final Path path;
  private final Function<byte[], T> parser;

  // guarded by this
  private Optional<List<Object>> version = Optional.empty();
  private Optional<Content<T>> content = Optional.empty();

  /** What was found. */
  sealed interface Content<T> {
    record Known<T>(T value) implements Content<T> {}

    record Missing<T>() implements Content<T> {}

    record Unusable<T>(String because) implements Content<T> {}
  }

  /**
   * @param parser throws IllegalArgumentException for content that is not valid
   */
  ParsedFile(Path path, Function<byte[], T> parser) {
    this.path = path;
    this.parser = parser;
  }

  Path path() {
    return path;
  }

  synchronized Content<T> read() {
    try {
      PosixFileAttributes now = Files.readAttributes(path, PosixFileAttributes.class);
      List<Object> current =
          List.of(
              now.lastModifiedTime(),
              now.size(),
              String.valueOf(now.fileKey()),
              now.permissions(),
              Files.getAttribute(path, "unix:ctime"));
      if (version.filter(current::equals).isPresent() && content.isPresent()) {
        return content.orElseThrow();
      }
      Content<T> parsed = parse(now);
      version = Optional.of(current);
      content = Optional.of(parsed);
      if (parsed instanceof Content.Unusable<T>(var because)) {
        LOG.log(System.Logger.Level.WARNING, path + " is not used: " + because);
      }
      return parsed;
    } catch (NoSuchFileException none) {
      version = Optional.empty();
      return new Content.Missing<>();
    } catch (IOException unreadable) {
      version = Optional.empty();
      return new Content.Unusable<>(FileReason.of(unreadable));
    }
  }

  private Content<T> parse(PosixFileAttributes file) throws IOException {
    if (file.permissions().contains(PosixFilePermission.GROUP_WRITE)
        || file.permissions().contains(PosixFilePermission.OTHERS_WRITE)) {
      return new Content.Unusable<>("others may write it; try: chmod go-w " + path);
    }
    try (InputStream input = Files.newInputStream(path)) {
      byte[] bytes = input.readNBytes(MOST_BYTES + 1);
      return bytes.length > MOST_BYTES
          ? new Content.Unusable<>("it is larger than " + MOST_BYTES + " bytes")
          : new Content.Known<>(parser.apply(bytes));
    } catch (IllegalArgumentException invalid) {
      return new Content.Unusable<>(String.valueOf(invalid.getMessage()));
    }
  }
}
