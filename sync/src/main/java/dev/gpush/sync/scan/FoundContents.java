package dev.gpush.sync.scan;

import dev.gpush.sync.tree.Contents;
import dev.gpush.sync.tree.Manifest;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where the contents of a scan are. What the scan has just read is found at once. */
final class FoundContents implements Contents {
  private final Manifest manifest;
  private final Map<String, String> recent;
  private final Path root;
  private final TreeWalk seen;

  /**
   * @param recent hash → path
   */
  FoundContents(Manifest manifest, Map<String, String> recent, Path root, TreeWalk seen) {
    this.manifest = manifest;
    this.recent = recent;
    this.root = root;
    this.seen = seen;
  }

  @Override
  public Optional<Path> of(String hash) {
    return Optional.ofNullable(recent.get(hash))
        .or(() -> manifest.pathsOf(hash).stream().findFirst())
        .map(path -> seen.find(path).map(file -> file.file(root)).orElse(root.resolve(path)));
  }
}
