package dev.gpush.sync.scan;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Something that is sent.
 *
 * @param target of a link
 */
record ScannedFile(String path, FileStamp.Look look, Optional<String> target, boolean tracked) {
  Path file(Path root) {
    return root.resolve(path);
  }
}
