package dev.gpush.sync.tree;

import java.nio.file.Path;
import java.util.Optional;

/** Where contents are. Thread-safe. */
@FunctionalInterface
public interface Contents {
  /** A file that had this content when it was read; it may have changed since. */
  Optional<Path> of(String hash);
}
