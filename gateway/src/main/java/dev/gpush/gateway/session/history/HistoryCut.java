package dev.gpush.gateway.session.history;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Where the history of a node begins that gets only the newest commits. Decided once: while the
 * node follows, it keeps its beginning, or each commit would move it and send all again.
 *
 * @param shallow commits that it has without their parents
 * @param commits that it has, or gets; refs to others are left out
 */
record HistoryCut(List<String> shallow, Set<String> commits) {
  HistoryCut {
    shallow = List.copyOf(shallow);
    commits = Set.copyOf(commits);
  }

  /**
   * Of a node that has a beginning; empty where that is the very first commit.
   *
   * @param tips of all branches
   */
  static Optional<HistoryCut> kept(Git git, Collection<String> tips, List<String> shallow)
      throws HistoryStopped, InterruptedException {
    return shallow.isEmpty()
        ? Optional.empty()
        : Optional.of(new HistoryCut(shallow, since(git, tips, shallow)));
  }

  /**
   * Of a node that has nothing; empty where it gets all because there is no more.
   *
   * @param own commits that are without their parents on this machine, too
   */
  static Optional<HistoryCut> first(
      Git git, int most, Collection<String> tips, Collection<String> own)
      throws HistoryStopped, InterruptedException {
    Map<String, List<String>> parents = new HashMap<>();
    String given = String.join("\n", tips) + "\n";
    List<String> newest =
        git.lines(given, "rev-list", "--parents", "--max-count=" + most, "--stdin");
    List<String> ends = git.lines(given, "rev-list", "--parents", "--no-walk", "--stdin");
    for (String line : newest) {
      put(parents, line);
    }
    for (String line : ends) {
      put(parents, line);
    }
    Set<String> commits = parents.keySet();
    List<String> cut =
        commits.stream().filter(each -> !commits.containsAll(parents.get(each))).sorted().toList();
    if (cut.isEmpty()) {
      return Optional.empty();
    }
    Stream<String> inside = own.stream().filter(commits::contains);
    return Optional.of(
        new HistoryCut(Stream.concat(cut.stream(), inside).distinct().toList(), commits));
  }

  private static void put(Map<String, List<String>> parents, String line) {
    List<String> words = List.of(line.split(" "));
    parents.put(words.getFirst(), words.subList(1, words.size()));
  }

  /** Commits of the tips that are no older than the beginning. */
  private static Set<String> since(Git git, Collection<String> tips, Collection<String> shallow)
      throws HistoryStopped, InterruptedException {
    var given = new StringBuilder();
    tips.forEach(each -> given.append(each).append('\n'));
    shallow.forEach(each -> given.append('^').append(each).append("^@\n"));
    return Set.copyOf(git.lines(given.toString(), "rev-list", "--stdin"));
  }
}
