package dev.gpush.shell.loop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The branches of the git repository that a folder is in, as its files name them. */
final class Branches {
  /** What git does with a branch that is named. */
  private static final Set<String> USES =
      Set.of(
          "branch",
          "checkout",
          "cherry-pick",
          "diff",
          "log",
          "merge",
          "pull",
          "push",
          "rebase",
          "reset",
          "show",
          "switch");

  private static final String LOCAL = "refs/heads/";
  private static final String REMOTE = "refs/remotes/";

  private Branches() {}

  /**
   * Those that the last word of a line for another program may mean.
   *
   * @param words {@code !git switch fea}, with or without a space after the mark, or {@code @0 git
   *     switch fea}
   */
  static Set<String> meant(List<String> words, Path folder) {
    boolean isApart = words.getFirst().equals("!") || words.getFirst().startsWith("@");
    String first = isApart ? "" : words.getFirst().substring(1);
    List<String> program =
        isApart
            ? words.subList(1, words.size())
            : Stream.concat(Stream.of(first), words.stream().skip(1)).toList();
    boolean isWanted =
        program.size() > 2 && program.getFirst().equals("git") && USES.contains(program.get(1));
    var found = new TreeSet<String>();
    if (isWanted) {
      try {
        add(gitFolder(folder), found);
      } catch (IOException | UncheckedIOException none) {
        return Set.of();
      }
      found.removeIf(name -> !name.startsWith(program.getLast()));
    }
    return found;
  }

  private static void add(Path git, Set<String> found) throws IOException {
    Path packed = git.resolve("packed-refs");
    if (Files.exists(packed)) {
      for (String line : Files.readAllLines(packed)) {
        add(line.substring(line.indexOf(' ') + 1), found);
      }
    }
    try (Stream<Path> refs = Files.walk(git.resolve("refs"))) {
      refs.filter(Files::isRegularFile).forEach(ref -> add(git.relativize(ref).toString(), found));
    }
  }

  private static void add(String ref, Set<String> found) {
    if (ref.startsWith(LOCAL)) {
      found.add(ref.substring(LOCAL.length()));
    } else if (ref.startsWith(REMOTE) && !ref.endsWith("/HEAD")) {
      found.add(ref.substring(REMOTE.length()));
    }
  }

  /** Where the branches of all worktrees are. */
  private static Path gitFolder(Path folder) throws IOException {
    for (Path each = folder; each != null; each = each.getParent()) {
      Path git = each.resolve(".git");
      if (Files.isRegularFile(git)) {
        git = each.resolve(Files.readString(git).strip().replaceFirst("^gitdir: *", ""));
        Path common = git.resolve("commondir");
        return Files.exists(common) ? git.resolve(Files.readString(common).strip()) : git;
      }
      if (Files.exists(git)) {
        return git;
      }
    }
    throw new IOException("no repository");
  }
}
