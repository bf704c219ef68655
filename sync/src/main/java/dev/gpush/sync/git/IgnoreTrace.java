package dev.gpush.sync.git;

import dev.gpush.core.session.SendReason.Rule;
import dev.gpush.core.session.SendReason.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How the rules decide about one path, from the root of the workspace down to it.
 *
 * @param rule that decided, about the path or a folder above it; it may also include the path
 * @param at the path, or the folder above it, that the rule is about
 */
public record IgnoreTrace(Verdict verdict, Optional<Rule> rule, String at) {

  /**
   * Looks at the path as it is there; one that is not there counts as a file.
   *
   * @param path relative to the root
   * @param isMissingFolder what is not there counts as a folder
   */
  public static IgnoreTrace of(
      Path root,
      Path path,
      boolean isMissingFolder,
      GitPlaces places,
      IgnoreStack.IndexReader indexes)
      throws IOException {
    IgnoreStack stack = IgnoreStack.at(root, places, indexes);
    Optional<Rule> rule = Optional.empty();
    String at = "";
    for (int i = 0; ; i++) {
      String name = path.getName(i).toString();
      Path here = root.resolve(path.subpath(0, i + 1));
      boolean isLast = i == path.getNameCount() - 1;
      boolean isThere = Files.exists(here, LinkOption.NOFOLLOW_LINKS);
      boolean isFolder =
          isThere ? Files.isDirectory(here, LinkOption.NOFOLLOW_LINKS) : !isLast || isMissingFolder;
      IgnoreStack.Decision decision = stack.decide(name, isFolder);
      // What a rule includes above says nothing of what is below.
      boolean isOwn = decision.rule().isPresent() || decision.fate() == IgnoreStack.Fate.SENT;
      if (isOwn) {
        rule = decision.rule();
        at = path.subpath(0, i + 1).toString();
      }
      boolean isTracked = !isFolder && stack.isTrackedFile(name);
      if (isLast || decision.fate() == IgnoreStack.Fate.IGNORED) {
        return new IgnoreTrace(verdict(decision.fate(), rule, isTracked), rule, at);
      }
      if (!isFolder) {
        Verdict end = Files.isSymbolicLink(here) ? Verdict.BEHIND_LINK : Verdict.BELOW_FILE;
        return new IgnoreTrace(end, rule, path.subpath(0, i + 1).toString());
      }
      stack = stack.enter(name, here, names(here), decision.fate(), indexes);
    }
  }

  private static Verdict verdict(IgnoreStack.Fate fate, Optional<Rule> rule, boolean isTracked) {
    return switch (fate) {
      case IGNORED -> rule.filter(Rule::isBuiltIn).isPresent() ? Verdict.NEVER : Verdict.IGNORED;
      case TRACKED_ONLY -> isTracked ? Verdict.TRACKED : Verdict.TRACKED_ONLY;
      case SENT -> isTracked ? Verdict.TRACKED : Verdict.SENT;
    };
  }

  private static Set<String> names(Path folder) {
    var names = new HashSet<String>();
    for (String name : List.of(IgnoreStack.GIT, IgnoreStack.GIT_IGNORE, IgnoreStack.GPUSH_IGNORE)) {
      if (Files.exists(folder.resolve(name))) {
        names.add(name);
      }
    }
    return names;
  }
}
