package dev.gpush.sync.home;

import dev.gpush.core.talk.Talk;
import dev.gpush.sync.tree.Entry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What has come home at one time. Not thread-safe. */
public final class Arrivals {
  /** Of the paths that a line names. */
  private static final int NAMED = 8;

  private final List<String> edited = new ArrayList<>();
  private final List<String> made = new ArrayList<>();
  private final List<String> renamed = new ArrayList<>();
  private final List<String> deleted = new ArrayList<>();
  private final List<String> moved = new ArrayList<>();
  private final List<String> touched = new ArrayList<>();
  private final List<String> inPlace = new ArrayList<>();
  private Optional<Path> kept = Optional.empty();
  private final Set<String> vain = new HashSet<>();

  /**
   * @param here what was here before
   * @param come what is here now; empty when what was here has changed, or is away
   */
  public void edited(String path, Optional<Entry> here, Optional<Entry> come) {
    (here.isPresent() ? inPlace : touched).add(path);
    add(path, path, come, edited);
  }

  /** The same of a file that was made or renamed there. */
  public void made(NewFile file, Optional<Entry> come) {
    file.from().ifPresent(from -> touched.add(from.path()));
    touched.add(file.path());
    if (file.from().isPresent()) {
      String from = file.from().get().path();
      add(file.path(), from + " to " + file.path(), come, renamed);
      come.ifPresent(_ -> moved.addAll(List.of(from, file.path())));
    } else {
      add(file.path(), file.path(), come, made);
    }
  }

  /**
   * @param place where it is kept; empty when it has changed here
   */
  public void deleted(String path, Optional<Path> place) {
    touched.add(path);
    add(path, path, place, deleted);
    kept = place.or(() -> kept);
  }

  private void add(String path, String text, Optional<?> come, List<String> to) {
    if (come.isPresent()) {
      to.add(text);
    } else {
      vain.add(path);
    }
  }

  /** What has not come, because it was something else on either side by then. */
  public Set<String> vain() {
    return Set.copyOf(vain);
  }

  /** Names it to the user of a command. */
  public void say(Talk talk, int node) {
    say("edited", edited, node, "", talk);
    say("new", made, node, "", talk);
    say("renamed", renamed, node, "", talk);
    String where = kept.map(path -> " (kept, the last one as " + path + ")").orElse("");
    say("deleted", deleted, node, where, talk);
  }

  private static void say(String what, List<String> paths, int node, String end, Talk talk) {
    if (!paths.isEmpty()) {
      int more = paths.size() - NAMED;
      String names = String.join(", ", paths.subList(0, Math.min(NAMED, paths.size())));
      talk.say(
          what
              + " on node "
              + node
              + ", and now here as well: "
              + names
              + (more > 0 ? " and " + more + " more" : "")
              + end);
    }
  }

  /** Each once. */
  public List<String> paths() {
    return Stream.of(edited, made, moved, deleted).flatMap(List::stream).distinct().toList();
  }

  /**
   * Those in which something may have changed; with those above, if a folder may be new or gone.
   */
  public Set<Path> folders(Path root) {
    var folders = new HashSet<Path>();
    inPlace.forEach(path -> folders.add(root.resolve(path).resolveSibling("")));
    touched.forEach(path -> addFolders(root, path, folders));
    return folders;
  }

  private static void addFolders(Path root, String path, Set<Path> folders) {
    for (Path at = root.resolve(path).getParent();
        at != null && at.startsWith(root);
        at = at.getParent()) {
      folders.add(at);
    }
  }
}
