package dev.gpush.sync.home;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** What is on the editors' node and could not come home: it is not tried again while it is so. */
public final class RefusedFiles {
  /** In place of the stamp of what was deleted there. */
  static final String GONE = "gone";

  public static final String IN_THE_WAY = "another file of this name is here";

  private static final String CANNOT_BE_HERE = "what it is there now cannot be here";

  /**
   * One of them.
   *
   * @param place what was here at this path kept it from coming; empty: what it is there did
   */
  private record Refused(String stamp, String why, Optional<String> place) {}

  private final Map<String, Refused> all = new HashMap<>();

  RefusedFiles() {}

  /** It cannot be here; the same file is not tried again before the next command. */
  public void add(NewFile file, String why) {
    boolean isForPlace = why.equals(IN_THE_WAY);
    add(file.path(), file.stamp(), why, Optional.of(file.path()).filter(_ -> isForPlace));
  }

  /** The same of what has come before: a push names it. */
  public void add(ChangesThere.Newer newer) {
    add(newer.path(), newer.stamp(), CANNOT_BE_HERE, Optional.empty());
  }

  /** What is here cannot be replaced at these paths: a push leaves them. */
  public void add(ChangesThere.Found found, Set<String> paths, String why) {
    for (ChangesThere.Newer newer : found.newer()) {
      if (paths.contains(newer.path())) {
        add(newer.path(), newer.stamp(), CANNOT_BE_HERE, Optional.of(newer.path()));
      }
    }
    for (NewFile file : found.news()) {
      if (file.from().isPresent() && paths.contains(file.path())) {
        add(file.path(), file.stamp(), why, file.from().map(NewFile.Deleted::path));
      }
    }
    for (NewFile.Deleted deleted : found.deleted()) {
      if (paths.contains(deleted.path())) {
        add(deleted.path(), GONE, why, Optional.empty());
      }
    }
  }

  private void add(String path, String stamp, String why, Optional<String> place) {
    all.put(path, new Refused(stamp, why, place));
  }

  /** Why it was refused; empty when it was not, or is another one now. */
  Optional<String> why(String path, String stamp) {
    return Optional.ofNullable(all.get(path))
        .filter(each -> each.stamp().equals(stamp))
        .map(Refused::why);
  }

  boolean contains(String path) {
    return all.containsKey(path);
  }

  /** All of it is tried again, until this runs. */
  Runnable aside() {
    Map<String, Refused> before = Map.copyOf(all);
    all.clear();
    return () -> all.putAll(before);
  }

  /** All of it is tried again. */
  public void clear() {
    all.clear();
  }

  /** Deletions are tried again after each push. */
  void forgetGone() {
    all.values().removeIf(each -> each.stamp().equals(GONE));
  }

  /**
   * Forgets what was refused because of what was here.
   *
   * @param isFree whether that is over at a path
   * @return whether there was any
   */
  public boolean forget(Predicate<String> isFree) {
    return all.values().removeIf(each -> each.place().filter(isFree).isPresent());
  }
}
