package dev.gpush.gateway.session.history;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Lines for the user, until a command has said them. Thread-safe. */
final class News {
  /** Of reasons, which may have a part that changes. */
  private static final int MOST = 20;

  // guarded by this
  private final Set<String> commits = new LinkedHashSet<>();
  private final Set<String> reasons = new LinkedHashSet<>();
  private final Set<String> known = new LinkedHashSet<>();

  /** The commits that are here and on no branch; what was taken since is no news. */
  synchronized void here(List<CommitsThere.Came> all) {
    commits.retainAll(all.stream().map(CommitsThere.Came::words).toList());
    all.stream()
        .filter(CommitsThere.Came::isNew)
        .map(CommitsThere.Came::words)
        .forEach(commits::add);
  }

  /** It is said only one time, however often it is the reason. */
  synchronized void failed(String line) {
    if (known.size() < MOST && known.add(line)) {
      reasons.add(line);
    }
  }

  synchronized List<String> take() {
    var taken = new ArrayList<>(reasons);
    taken.addAll(commits);
    reasons.clear();
    commits.clear();
    return taken;
  }
}
