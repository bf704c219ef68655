package dev.gpush.sync.tree;

import java.util.Map;
import java.util.Optional;

/**
 * The working tree at one moment.
 *
 * @param contents where contents can be read; they may have changed since
 * @param head of the repository, if there is one: changes with checkouts, commits and resets
 * @param left paths that are in the manifest as they were before, or not at all, and why
 */
public record Scan(
    Manifest manifest, Contents contents, Optional<String> head, Map<String, String> left) {
  public Scan {
    left = Map.copyOf(left);
  }
}
