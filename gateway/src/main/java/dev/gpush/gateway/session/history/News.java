package dev.gpush.gateway.session.history;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Lines for the user, until a command has said them. Thread-safe. */
final class News {
  /** Of a user who is away for weeks; the newest count. */
  private static final int MOST = 20;

  // guarded by this
  private final Set<String> lines = new LinkedHashSet<>();
  private final Set<String> once = new LinkedHashSet<>();

  synchronized void add(String line) {
    lines.remove(line);
    lines.add(line);
    if (lines.size() > MOST) {
      lines.remove(lines.iterator().next());
    }
  }

  /** It is said only one time, however often it is news. */
  synchronized void addOnce(String line) {
    if (once.size() < MOST && once.add(line)) {
      add(line);
    }
  }

  synchronized List<String> take() {
    var taken = new ArrayList<>(lines);
    lines.clear();
    return taken;
  }
}
