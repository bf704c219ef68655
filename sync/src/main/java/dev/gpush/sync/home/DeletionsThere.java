package dev.gpush.sync.home;

import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Merge;
import dev.gpush.sync.tree.Version;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The paths that are no more on the editors' node in one look, and are here as they were sent, or
 * came home since. They come home together, so that their number says whether they may be an
 * accident: a part of them comes never while others still go.
 */
final class DeletionsThere {
  private final Map<String, NewFile.Deleted> gone = new TreeMap<>(Manifest.ORDER);
  private final Set<String> unseen = new HashSet<>();
  private final int of;
  private final boolean isOfAnotherFolder;

  /**
   * Nothing is left of what was sent, under any name: a disk that is not there looks like that.
   * Names with a dot do not count, as {@code rm -rf *} leaves them.
   */
  private boolean areAll;

  private boolean isCut;
  private boolean isRenaming;
  private boolean isAnyRenamed;

  /**
   * What of it may come home.
   *
   * @param isMany so much that a user is asked
   */
  record Coming(List<NewFile.Deleted> deleted, boolean isMany) {
    Coming {
      deleted = List.copyOf(deleted);
    }
  }

  /**
   * @param wanted what is here
   * @param edited edits that came home and are in no generation yet
   * @param isOfAnotherFolder a user is asked: what is missing was perhaps never deleted
   */
  DeletionsThere(
      NodeHolds holds, Manifest wanted, Map<String, Entry> edited, boolean isOfAnotherFolder) {
    this.isOfAnotherFolder = isOfAnotherFolder;
    this.of = holds.manifest().size();
    Set<String> all = holds.manifest().entries().keySet();
    List<String> shown = all.stream().filter(path -> !path.startsWith(".")).toList();
    this.areAll = holds.missing().containsAll(shown.isEmpty() ? all : shown);
    holds
        .deviations()
        .forEach(
            (path, deviation) -> {
              Optional<Entry> here = wanted.get(path);
              Optional<Entry> came = Optional.ofNullable(edited.get(path));
              Merge merge =
                  Merge.of(
                      Version.of(came.or(() -> holds.manifest().get(path))),
                      Version.of(here),
                      deviation.now(),
                      Merge.Editing.COMES_HOME);
              if (merge instanceof Merge.DeleteHere) {
                gone.put(path, new NewFile.Deleted(path, here.orElseThrow()));
              }
            });
  }

  /** A new name is that of a file that was renamed from this path. */
  Optional<NewFile.Deleted> renamed(String path) {
    isRenaming = true;
    return Optional.ofNullable(gone.get(path));
  }

  /** False when another name has taken it: two were linked there, and one is the renamed one. */
  boolean take(NewFile.Deleted renamed) {
    boolean isTaken = gone.remove(renamed.path()) != null;
    areAll &= !isTaken;
    return isTaken;
  }

  /** Some names of a folder were not looked at. */
  void cut() {
    isCut = true;
  }

  /**
   * These new folders were not looked into.
   *
   * @param areFirst one of them may be a renamed folder itself, and not only be below one
   */
  void unseen(List<String> folders, boolean areFirst) {
    isAnyRenamed = areFirst;
    folders.forEach(folder -> unseen.add(folder.substring(folder.lastIndexOf('/') + 1)));
  }

  /** After all that was renamed was taken. */
  Coming coming(Predicate<String> isRefused, Predicate<String> isSettled) {
    var deleted = new ArrayList<NewFile.Deleted>();
    int settled = 0;
    for (NewFile.Deleted each : gone.values()) {
      if (!isRefused.test(each.path()) && !mayBeRenamed(each.path())) {
        deleted.add(each);
        settled += isSettled.test(each.path()) ? 1 : 0;
      }
    }
    boolean isMany =
        isOfAnotherFolder
            ? !deleted.isEmpty() // At once: a push without them would be the next commit there.
            : (settled > 0 && (areAll || ChangesThere.areMany(deleted.size(), of)));
    boolean areComplete = isMany || settled == deleted.size();
    return new Coming(areComplete ? deleted : List.of(), isMany);
  }

  /** Its new name may be one of those that were not looked at: it waits until these are. */
  private boolean mayBeRenamed(String path) {
    int name = path.lastIndexOf('/');
    return (isCut && isRenaming)
        || (name > 0
            && (isAnyRenamed
                || Stream.of(path.substring(0, name).split("/", -1)).anyMatch(unseen::contains)));
  }
}
