package dev.gpush.gateway.session.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where the history begins on a node that gets only the newest commits. While the node follows, it
 * keeps its beginning, or each commit would move it and send all again.
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
   * Of a node that has a beginning. An older branch begins where it left the others.
   *
   * @param tips of all branches
   * @param shallow as it is there
   * @param begins those of it that are here
   * @param own commits that are without their parents on this machine, too
   */
  static HistoryCut kept(
      Git git,
      Collection<String> tips,
      Collection<String> shallow,
      Collection<String> begins,
      Collection<String> own)
      throws HistoryStopped, InterruptedException {
    String given = lines("", tips, "") + lines("^", begins, "^@");
    return closed(git, parents(git, given), tips, shallow, own);
  }

  /**
   * Of a node that has no beginning yet; empty where it gets all because there is no more.
   *
   * @param tips as above
   * @param own as above
   */
  static Optional<HistoryCut> first(
      Git git, int most, Collection<String> tips, Collection<String> own)
      throws HistoryStopped, InterruptedException {
    var newest = parents(git, lines("", tips, ""), "--max-count=" + (most - 1));
    HistoryCut cut = closed(git, newest, tips, List.of(), own);
    return own.containsAll(cut.shallow()) ? Optional.empty() : Optional.of(cut);
  }

  /** Adds the tips and the parents that are missing; they become beginnings. */
  private static HistoryCut closed(
      Git git,
      Map<String, List<String>> inside,
      Collection<String> tips,
      Collection<String> shallow,
      Collection<String> own)
      throws HistoryStopped, InterruptedException {
    var oldest = new HashSet<>(tips);
    inside.forEach(
        (commit, parents) -> oldest.addAll(shallow.contains(commit) ? List.of() : parents));
    oldest.removeAll(inside.keySet());
    var commits = new HashSet<>(inside.keySet());
    commits.addAll(oldest);
    Stream<String> cut =
        oldest.isEmpty()
            ? Stream.of()
            : parents(git, lines("", oldest, ""), "--no-walk").entrySet().stream()
                .filter(each -> !each.getValue().isEmpty())
                .map(Map.Entry::getKey)
                .sorted();
    Stream<String> all =
        Stream.of(shallow.stream(), cut, own.stream().filter(commits::contains))
            .flatMap(each -> each);
    return new HistoryCut(all.distinct().toList(), commits);
  }

  /** Commits with their parents. */
  private static Map<String, List<String>> parents(Git git, String given, String... options)
      throws HistoryStopped, InterruptedException {
    var words = new ArrayList<>(List.of("rev-list", "--parents", "--stdin"));
    words.addAll(List.of(options));
    return git.lines(given, words.toArray(String[]::new)).stream()
        .map(line -> List.of(line.split(" ")))
        .collect(Collectors.toMap(List::getFirst, each -> each.subList(1, each.size())));
  }

  private static String lines(String before, Collection<String> all, String after) {
    return all.stream().map(each -> before + each + after + "\n").collect(Collectors.joining());
  }
}
