package dev.gpush.sync.scan;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Something that is sent.
 *
 * @param exact where it is, when its path as text does not say that in every locale
 * @param target of a link
 */
record ScannedFile(
    String path,
    Optional<Path> exact,
    FileStamp.Look look,
    Optional<String> target,
    boolean tracked) {
  Path file(Path root) {
    return exact.orElseGet(() -> root.resolve(path));
  }
}
