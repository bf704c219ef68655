package dev.gpush.sync.scan;

import dev.gpush.sync.git.IgnoreStack;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A folder as the last walk saw it, so that the next one lists only what has changed. Of one walk
 * at a time.
 */
final class SeenFolder {
  /** How a folder is reached: what decides when one of its own rule files changes. */
  record Place(SeenFolder above, String name, IgnoreStack.Fate fate) {}

  /** Why something is not sent, other than by an ignore rule. */
  enum Oddity {
    LINK("they point out of the workspace", ""),
    NO_FILE("they are not regular files", ""),
    NAME("their names are not UTF-8 or too long", "its name is not UTF-8 or too long"),
    UNREADABLE("these folders cannot be read", "this folder cannot be read");

    private final String many;
    private final String one;

    Oddity(String many, String one) {
      this.many = many;
      this.one = one;
    }

    /** As a clause about several. */
    String ofMany() {
      return many;
    }

    /**
     * As a clause about one that its owner may want to be sent; empty where nobody could send it.
     */
    Optional<String> ofOne() {
      return one.isEmpty() ? Optional.empty() : Optional.of(one);
    }
  }

  private final Path path;
  private final long inode;
  private final Optional<Place> place;

  private Listing listing = Listing.empty();

  /**
   * What is in it.
   *
   * @param stack with the rule files of this folder
   * @param rules those rule files
   * @param files that are sent
   * @param folders that are looked into
   * @param oddities paths that are left out, but not by a rule
   */
  record Listing(
      Optional<IgnoreStack> stack,
      RuleStamps rules,
      List<ScannedFile> files,
      Map<String, SeenFolder> folders,
      Map<String, Oddity> oddities) {
    Listing {
      files = List.copyOf(files);
      oddities = Map.copyOf(oddities);
    }

    static Listing empty() {
      return new Listing(Optional.empty(), RuleStamps.none(), List.of(), Map.of(), Map.of());
    }
  }

  SeenFolder(Path path, long inode, Optional<Place> place) {
    this.path = path;
    this.inode = inode;
    this.place = place;
  }

  Path path() {
    return path;
  }

  long inode() {
    return inode;
  }

  Optional<Place> place() {
    return place;
  }

  Listing listing() {
    return listing;
  }

  void listed(Listing now) {
    listing = now;
  }

  /** Everything below it that is sent, in no order. */
  void addAll(List<ScannedFile> to) {
    to.addAll(listing.files());
    listing.folders().values().forEach(folder -> folder.addAll(to));
  }
}
