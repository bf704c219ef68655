package dev.gpush.sync.tree;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The working tree at one moment.
 *
 * @param files where the content of each hash can be read; it may have changed since
 * @param head of the repository, if there is one: changes with checkouts, commits and resets
 */
public record Scan(Manifest manifest, Map<String, Path> files, Optional<String> head) {
  public Scan {
    files = Map.copyOf(files);
  }
}
