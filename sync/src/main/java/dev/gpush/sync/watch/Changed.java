package dev.gpush.sync.watch;

import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * What to look at, after a quiet moment.
 *
 * @param folders empty: everything
 * @param open paths that are being written at this moment, relative to the root
 */
public record Changed(Optional<Set<Path>> folders, Set<String> open) {
  public Changed {
    folders = folders.map(Set::copyOf);
    open = Set.copyOf(open);
  }

  public static Changed everything() {
    return new Changed(Optional.empty(), Set.of());
  }
}
