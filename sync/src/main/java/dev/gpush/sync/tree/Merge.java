package dev.gpush.sync.tree;

import dev.gpush.core.failure.SyncFailure.HeldPath.Reason;
import java.util.List;

/**
 * What becomes of one path. The ancestor is the version that the laptop and the editors' node had
 * both: that of the last generation, or what came home since. If only one side has changed it, that
 * side's version wins. If both have, and differently, a user has to decide.
 */
public sealed interface Merge {
  /** The laptop's version goes to the nodes. */
  record Send() implements Merge {}

  /** The editors' node's version replaces the laptop's. */
  record ComeHome() implements Merge {}

  /** It was deleted on the editors' node, and goes to the trash here. */
  record DeleteHere() implements Merge {}

  /** It was deleted here. */
  record DeleteThere() implements Merge {}

  /** Both sides have the same, and no generation has it yet. */
  record Adopt() implements Merge {}

  /** All versions stay where they are until a user has decided. */
  record Hold(Reason reason) implements Merge {}

  /** All have what the last generation has. */
  record LeaveAlone() implements Merge {}

  /** What the editors' node may do. */
  enum Editing {
    /** Its changes come home. */
    COMES_HOME,
    /** Its changes stay, and what was deleted is written again, as on every other node. */
    STAYS
  }

  /** Whose version a user wants of what is held. */
  enum Keep {
    LAPTOP,
    NODE
  }

  /**
   * Decides by the versions of the laptop and the editors' node.
   *
   * @param here on the laptop now
   * @param there on the editors' node now
   */
  static Merge of(Version ancestor, Version here, Version there, Editing editing) {
    if (here.is(there)) {
      return here.is(ancestor) ? new LeaveAlone() : new Adopt();
    }
    if (there.is(ancestor)) {
      return sent(here);
    }
    boolean isHome = editing == Editing.COMES_HOME;
    if (!isHome && (there.isAbsent() || there.hasBytesOf(ancestor))) {
      return sent(here); // Nothing is lost by writing it again.
    }
    if (!here.is(ancestor)) {
      return new Hold(bothChanged(here, there));
    }
    if (!isHome) {
      return new Hold(Reason.STAYS_THERE);
    }
    return there instanceof Version.Unread(var whyNot) && !whyNot.isEmpty()
        ? new Hold(Reason.CANNOT_COME)
        : taken(there);
  }

  private static Reason bothChanged(Version here, Version there) {
    if (here.isAbsent()) {
      return Reason.DELETED_HERE;
    }
    return there.isAbsent() ? Reason.DELETED_THERE : Reason.CHANGED_BOTH;
  }

  /**
   * The same, unless another node has bytes that nobody else has.
   *
   * @param result what all have afterwards
   * @param others what the other nodes have that is not as gpush wrote it there
   * @param written what gpush wrote there, in the order of {@code others}
   */
  default Merge among(Version result, List<Version> others, List<Version> written) {
    if (this instanceof Hold || result.isAbsent()) {
      return this; // What is deleted goes only where it is as gpush wrote it.
    }
    for (int i = 0; i < others.size(); i++) {
      Version other = others.get(i);
      boolean isKnown =
          other.isAbsent()
              || other.is(result)
              || other.hasBytesOf(result)
              || other.hasBytesOf(written.get(i));
      if (!isKnown) {
        return new Hold(Reason.OTHER_NODE);
      }
    }
    return this;
  }

  /** What a user has decided about a path that is held. */
  static Merge kept(Keep keep, Version here, Version there) {
    if (here.is(there)) {
      return new Adopt();
    }
    return switch (keep) {
      case LAPTOP -> sent(here);
      case NODE -> taken(there);
    };
  }

  private static Merge sent(Version here) {
    return here.isAbsent() ? new DeleteThere() : new Send();
  }

  private static Merge taken(Version there) {
    return there.isAbsent() ? new DeleteHere() : new ComeHome();
  }
}
