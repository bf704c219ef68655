package dev.gpush.sync;

import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.sync.tree.Merge;
import java.util.EnumSet;
import java.util.Set;

/**
 * How to push.
 *
 * @param kept paths, and folders, about which the user decides if they are held
 */
public record PushOptions(Set<Option> options, Merge.Keep keep, Set<String> kept) {
  /** What may be wanted. */
  public enum Option {
    /** What differs on a node goes to its trash instead of blocking. */
    OVERWRITE,
    /**
     * Every path is looked at on the nodes, not only those that change; a watcher that pushes on
     * each save may leave that to the push before a launch.
     */
    VERIFY,
    /**
     * What the nodes have was sent from elsewhere: before anything of it is replaced or deleted,
     * the user is asked.
     */
    COMPARE,
    /** Edits on the editors' node block, instead of coming home. */
    LEAVE_EDITS
  }

  public PushOptions {
    options = Set.copyOf(options);
    kept = Set.copyOf(kept);
  }

  private static PushOptions of(Set<Option> options) {
    return new PushOptions(options, Merge.Keep.LAPTOP, Set.of());
  }

  public static PushOptions standard() {
    return of(Set.of(Option.VERIFY));
  }

  /** Of one save: only what it changes is looked at on the nodes. */
  public static PushOptions save() {
    return of(Set.of());
  }

  public PushOptions overwriting() {
    return with(Option.OVERWRITE);
  }

  public PushOptions comparing() {
    return with(Option.COMPARE);
  }

  public PushOptions leavingEdits() {
    return with(Option.LEAVE_EDITS);
  }

  private PushOptions with(Option more) {
    Set<Option> all = EnumSet.of(more);
    all.addAll(options);
    return new PushOptions(all, keep, kept);
  }

  /** The same, with a user's decision. */
  public PushOptions keeping(KeepRequest request) {
    Merge.Keep side =
        switch (request.side()) {
          case LAPTOP -> Merge.Keep.LAPTOP;
          case NODE -> Merge.Keep.NODE;
        };
    return new PushOptions(options, side, Set.copyOf(request.paths()));
  }

  /**
   * @param editNode the node where people edit
   */
  Decisions.Rules rules(int editNode) {
    return new Decisions.Rules(
        editNode,
        bringsEditsHome() ? Merge.Editing.COMES_HOME : Merge.Editing.STAYS,
        overwrite(),
        this::isKept,
        keep);
  }

  boolean isKept(String path) {
    return kept.stream().anyMatch(each -> covers(each, path));
  }

  /** Whether a path is one that was named, or in a folder that was. */
  static boolean covers(String named, String path) {
    return named.isEmpty() || path.equals(named) || path.startsWith(named + "/");
  }

  boolean overwrite() {
    return options.contains(Option.OVERWRITE);
  }

  boolean verify() {
    return options.contains(Option.VERIFY);
  }

  boolean bringsEditsHome() {
    return !options.contains(Option.LEAVE_EDITS) && !compare();
  }

  /** New files, deletions and renames of the editors' node, which only a look at it finds. */
  boolean takesChangesHome() {
    return bringsEditsHome() && verify() && !overwrite();
  }

  boolean compare() {
    return options.contains(Option.COMPARE);
  }
}
