package dev.gpush.sync.watch;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Where something may have changed.
 *
 * @param folders in which names or finished files have changed
 * @param open files that are being written, by the folder they are in; a name may be empty
 * @param everything changes were missed, or cannot be watched
 * @param events how many were reported
 */
public record Hints(
    Set<Path> folders, Map<Path, Set<String>> open, boolean everything, int events) {
  public Hints {
    folders = Set.copyOf(folders);
    open = Map.copyOf(open);
  }

  static Hints none() {
    return new Hints(Set.of(), Map.of(), false, 0);
  }

  public boolean isEmpty() {
    return folders.isEmpty() && open.isEmpty() && !everything;
  }

  /** Collects hints until they are taken. For one thread at a time. */
  static final class Collected {
    private final Set<Path> folders = new HashSet<>();
    private final Map<Path, Set<String>> open = new HashMap<>();
    private boolean everything;
    private int events;

    /** A name has changed, or a file is complete. */
    void done(Path folder, String name) {
      folders.add(folder);
      Set<String> names = open.get(folder);
      if (names != null && names.remove(name) && names.isEmpty()) {
        open.remove(folder);
      }
      events++;
    }

    /** A file changes, and its writer may not be done. */
    void writing(Path folder, String name) {
      open.computeIfAbsent(folder, _ -> new HashSet<>()).add(name);
      events++;
    }

    void everything() {
      everything = true;
      events++;
    }

    boolean isEmpty() {
      return folders.isEmpty() && open.isEmpty() && !everything;
    }

    Hints take() {
      var copies = new HashMap<Path, Set<String>>();
      open.forEach((folder, names) -> copies.put(folder, Set.copyOf(names)));
      var taken = new Hints(folders, copies, everything, events);
      folders.clear();
      open.clear();
      everything = false;
      events = 0;
      return taken;
    }
  }
}
