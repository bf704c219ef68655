package dev.gpush.sync;

import java.util.EnumSet;
import java.util.Set;

/** How to push. */
public record PushOptions(Set<Option> options) {
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
  }

  public static PushOptions standard() {
    return new PushOptions(Set.of(Option.VERIFY));
  }

  /** Of one save: only what it changes is looked at on the nodes. */
  public static PushOptions save() {
    return new PushOptions(Set.of());
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
    return new PushOptions(all);
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
