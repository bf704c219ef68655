package dev.gpush.sync.scan;

import dev.gpush.sync.tree.Contents;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Where the contents of a scan are. What the scan has just read is found at once. */
final class FoundContents implements Contents {
  private final Manifest manifest;
  private final Map<String, String> recent;
  private final Path root;
  private final TreeWalk seen;

  // guarded by this
  private Optional<Map<String, String>> all = Optional.empty();

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
  public synchronized Optional<Path> of(String hash) {
    return Optional.ofNullable(recent.get(hash))
        .or(() -> Optional.ofNullable(all().get(hash)))
        .map(path -> seen.find(path).map(file -> file.file(root)).orElse(root.resolve(path)));
  }

  // holds lock
  private Map<String, String> all() {
    if (all.isEmpty()) {
      var paths = new HashMap<String, String>();
      manifest
          .entries()
          .forEach(
              (path, entry) -> {
                if (entry instanceof Entry.File(_, _, var content)) {
                  paths.put(content, path);
                }
              });
      all = Optional.of(paths);
    }
    return all.orElseThrow();
  }
}
