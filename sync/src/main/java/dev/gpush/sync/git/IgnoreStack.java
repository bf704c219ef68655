package dev.gpush.sync.git;

import dev.gpush.core.session.SendReason.Rule;
import java.io.IOException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What is ignored in one folder: git's own rules in git's own order, {@code .gpushignore} before
 * them, and between the two the few names that are never sent.
 *
 * <p>git looks from the innermost {@code .gitignore} outwards, then in {@code info/exclude}, then
 * in {@code core.excludesFile}; the first file with a match decides, by its last match. Everything
 * below an ignored folder is ignored, whatever other rules say. Tracked files are never ignored. A
 * repository inside this one uses only its own files.
 */
public final class IgnoreStack {
  /**
   * The only names that gpush leaves out by itself: large, made again on the node, its own, or
   * written by the Finder of macOS into every folder that it shows.
   */
  private static final Set<String> NEVER =
      Set.of("__pycache__", ".venv", "node_modules", ".gpush", ".DS_Store");

  /**
   * What {@code Pull} and {@code LocalTrash} make beside a file; a gateway that is killed leaves
   * it.
   */
  private static final Pattern BESIDE = Pattern.compile("\\..+\\.gpush-(part|old\\d*)");

  public static final String GIT = ".git";
  public static final String GIT_IGNORE = ".gitignore";
  public static final String GPUSH_IGNORE = ".gpushignore";

  /** One ignore file and the folder that it is for, and the level to use when it has no match. */
  private record Level(IgnoreFile file, String base, Optional<Level> outer) {
    Optional<Rule> match(String path, boolean isFolder) {
      Optional<Rule> found = file.match(path.substring(base.length()), isFolder);
      return found.isPresent() ? found : outer.flatMap(level -> level.match(path, isFolder));
    }
  }

  /**
   * Whether one name in the folder is sent.
   *
   * @param rule the rule that decided; empty when none did
   */
  public record Decision(Fate fate, Optional<Rule> rule) {}

  public enum Fate {
    SENT,
    /** An ignored folder that has tracked files: only these. */
    TRACKED_ONLY,
    IGNORED
  }

  /** What the repository says that a folder is in. */
  private record Rules(GitIndex index, boolean ignoresCase) {}

  private final GitPlaces places;
  private final Rules rules;
  private final String gitBase; // of this folder from the top of its repository, "" or ending in /
  private final String base; // the same from the root of the workspace
  private final boolean trackedOnly;
  private final Optional<Level> git;
  private final Optional<Level> own;

  private IgnoreStack(
      GitPlaces places,
      Rules rules,
      String gitBase,
      String base,
      boolean trackedOnly,
      Optional<Level> git,
      Optional<Level> own) {
    this.places = places;
    this.rules = rules;
    this.gitBase = gitBase;
    this.base = base;
    this.trackedOnly = trackedOnly;
    this.git = git;
    this.own = own;
  }

  /** For the root of a workspace, which may be any folder of a repository, or be in none. */
  public static IgnoreStack at(Path root, GitPlaces places, IndexReader indexes)
      throws IOException {
    Optional<GitFolder> repository = GitFolder.around(root);
    if (repository.isPresent()) {
      Optional<IgnoreStack> inside = inside(repository.orElseThrow(), root, places, indexes);
      if (inside.isPresent()) {
        return inside.orElseThrow();
      }
    }
    return fresh(places, Optional.empty(), GitIndex.empty(), "")
        .reading(root, Set.of(GIT_IGNORE, GPUSH_IGNORE));
  }

  /**
   * Empty when the surrounding repository ignores the root, which then does not belong to it, as
   * with dotfiles in $HOME.
   */
  private static Optional<IgnoreStack> inside(
      GitFolder repository, Path root, GitPlaces places, IndexReader indexes) throws IOException {
    IgnoreStack stack =
        fresh(places, Optional.of(repository), indexes.read(repository), "")
            .reading(repository.top(), Set.of(GIT_IGNORE));
    Path folder = repository.top();
    for (Path name : repository.top().relativize(root)) {
      if (name.toString().isEmpty()) {
        break;
      }
      if (stack.decideByGit(name.toString(), true).fate() == Fate.IGNORED) {
        return Optional.empty();
      }
      folder = folder.resolve(name);
      stack = stack.below(name.toString(), false).reading(folder, Set.of(GIT_IGNORE));
    }
    var here =
        new IgnoreStack(places, stack.rules, stack.gitBase, "", false, stack.git, Optional.empty());
    return Optional.of(here.reading(root, Set.of(GPUSH_IGNORE)));
  }

  /**
   * The files outside a workspace that decide what is ignored in it. They may not exist; those that
   * a configuration includes are left out.
   */
  public static List<Path> outsideRules(Path root, GitPlaces places) {
    Optional<GitFolder> repository = GitFolder.around(root);
    var files = new ArrayList<>(places.configs());
    files.add(GitFolder.ignoring(places, repository).excludesFile());
    if (repository.isPresent()) {
      GitFolder git = repository.orElseThrow();
      files.add(git.common().resolve("config"));
      files.add(git.own().resolve("config.worktree"));
      files.add(git.exclude());
      for (Path above = root; !above.equals(git.top()); ) {
        above = Objects.requireNonNull(above.getParent(), "the repository is around the root");
        files.add(above.resolve(GIT_IGNORE));
      }
    }
    return files;
  }

  private static IgnoreStack fresh(
      GitPlaces places, Optional<GitFolder> repository, GitIndex index, String base)
      throws IOException {
    Optional<Level> levels = Optional.empty();
    GitFolder.Ignoring ignoring = GitFolder.ignoring(places, repository);
    boolean ignoresCase = ignoring.isCaseless();
    Path excludes = ignoring.excludesFile();
    levels = push(levels, "", IgnoreFile.read(excludes, excludes.toString(), ignoresCase));
    if (repository.isPresent()) {
      Path exclude = repository.orElseThrow().exclude();
      levels = push(levels, "", IgnoreFile.read(exclude, ".git/info/exclude", ignoresCase));
    }
    var rules = new Rules(index, ignoresCase);
    return new IgnoreStack(places, rules, "", base, false, levels, Optional.empty());
  }

  private static Optional<Level> push(
      Optional<Level> outer, String base, Optional<IgnoreFile> file) {
    return file.isPresent() ? Optional.of(new Level(file.orElseThrow(), base, outer)) : outer;
  }

  /**
   * This stack with the ignore files of its own folder.
   *
   * @param names of the files to read; others are passed over
   */
  private IgnoreStack reading(Path folder, Collection<String> names) throws IOException {
    Optional<Level> newGit = git;
    Optional<Level> newOwn = own;
    if (names.contains(GIT_IGNORE)) {
      newGit = push(git, gitBase, read(folder, GIT_IGNORE, rules.ignoresCase()));
    }
    if (names.contains(GPUSH_IGNORE)) {
      newOwn = push(own, base, read(folder, GPUSH_IGNORE, false));
    }
    return new IgnoreStack(places, rules, gitBase, base, trackedOnly, newGit, newOwn);
  }

  private Optional<IgnoreFile> read(Path folder, String name, boolean ignoresCase)
      throws IOException {
    Path file = folder.resolve(name);
    return IgnoreFile.read(file, base + name, ignoresCase, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * The stack of a folder in this one.
   *
   * @param names what lies in it, so that only files that exist are opened
   */
  public IgnoreStack enter(
      String name, Path folder, Collection<String> names, Fate fate, IndexReader indexes)
      throws IOException {
    if (names.contains(GIT)) {
      Optional<GitFolder> nested = GitFolder.at(folder);
      if (nested.isPresent()) {
        IgnoreStack start =
            fresh(places, nested, indexes.read(nested.orElseThrow()), base + name + "/");
        var inner = new IgnoreStack(places, start.rules, "", start.base, false, start.git, own);
        return inner.reading(folder, names);
      }
    }
    return below(name, trackedOnly || fate == Fate.TRACKED_ONLY).reading(folder, names);
  }

  private IgnoreStack below(String name, boolean onlyTracked) {
    return new IgnoreStack(
        places, rules, gitBase + name + "/", base + name + "/", onlyTracked, git, own);
  }

  /** Whether gpush leaves the name out by itself. */
  public static boolean isNever(String name) {
    return NEVER.contains(name) || (name.contains(".gpush-") && BESIDE.matcher(name).matches());
  }

  public Decision decide(String name, boolean isFolder) {
    if (name.equals(GIT)) {
      return new Decision(Fate.IGNORED, Optional.of(Rule.builtIn(GIT)));
    }
    if (base.isEmpty() && name.equals(".gpush")) {
      return new Decision(Fate.IGNORED, Optional.of(Rule.builtIn(name)));
    }
    if (trackedOnly) {
      return new Decision(
          isTracked(name, isFolder) ? Fate.TRACKED_ONLY : Fate.IGNORED, Optional.empty());
    }
    Optional<Rule> rule = own.flatMap(level -> level.match(base + name, isFolder));
    if (rule.isEmpty() && isNever(name)) {
      rule = Optional.of(Rule.builtIn(name));
    }
    return rule.isPresent() ? decided(rule, name, isFolder) : decideByGit(name, isFolder);
  }

  /** Whether a file of this name is not sent, and says nothing about what is sent. */
  public boolean isNeverSent(String name) {
    boolean isRule = name.equals(GIT) || name.equals(GIT_IGNORE) || name.equals(GPUSH_IGNORE);
    return !isRule && decide(name, false).fate() == Fate.IGNORED;
  }

  private Decision decideByGit(String name, boolean isFolder) {
    return decided(git.flatMap(level -> level.match(gitBase + name, isFolder)), name, isFolder);
  }

  private Decision decided(Optional<Rule> rule, String name, boolean isFolder) {
    if (rule.isEmpty() || rule.orElseThrow().includes()) {
      return new Decision(Fate.SENT, rule);
    }
    if (isTracked(name, isFolder)) {
      return new Decision(isFolder ? Fate.TRACKED_ONLY : Fate.SENT, rule);
    }
    return new Decision(Fate.IGNORED, rule);
  }

  private boolean isTracked(String name, boolean isFolder) {
    return isFolder ? rules.index().hasBelow(gitBase + name) : isTrackedFile(name);
  }

  public boolean isTrackedFile(String name) {
    return rules.index().tracks(gitBase + name);
  }

  public String base() {
    return base;
  }

  /** Reads a repository's index, or remembers it. */
  @FunctionalInterface
  public interface IndexReader {
    GitIndex read(GitFolder repository) throws IOException;
  }
}
