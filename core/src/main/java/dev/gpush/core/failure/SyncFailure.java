package dev.gpush.core.failure;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Files could not be brought to the nodes: all of them, unless it says what is left out. */
public sealed interface SyncFailure extends Failure {
  /**
   * A path of the workspace that has versions of which none is newer than the others: all stay
   * where they are until a user decides.
   *
   * @param node with the other version
   * @param here when it was changed on this machine; empty when it is not there
   * @param there when it was changed on the node, by the node's clock
   * @param detail a clause for {@link Reason#CANNOT_COME} and {@link Reason#IN_THE_WAY}
   */
  record HeldPath(
      String path,
      Reason reason,
      int node,
      Optional<Instant> here,
      Optional<Instant> there,
      String detail) {
    /** Why a path is held. */
    public enum Reason {
      CHANGED_BOTH,
      DELETED_HERE,
      DELETED_THERE,
      /** It was changed on the editors' node, where changes are to stay. */
      STAYS_THERE,
      /** What is on the editors' node cannot be here. */
      CANNOT_COME,
      /** Another node has bytes of its own. */
      OTHER_NODE,
      /** A file or folder is in its way that is held, or is not gpush's. */
      IN_THE_WAY
    }

    /** As in {@code changed here 2026-11-27T03:15:04Z and on node 0 2026-11-27T03:16:10Z}. */
    public String why() {
      return why(moment -> moment.truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /** The same with times as a user reads them. */
    public String why(Function<Instant, String> time) {
      String here = this.here.map(time).map(text -> " " + text).orElse("");
      String there = this.there.map(time).map(text -> " " + text).orElse("");
      return switch (reason) {
        case CHANGED_BOTH -> "changed here" + here + " and on node " + node + there;
        case DELETED_HERE -> "deleted here, and changed on node " + node + there;
        case DELETED_THERE -> "changed here" + here + ", and deleted on node " + node;
        case STAYS_THERE -> "changed on node " + node + there + ", where changes stay";
        case CANNOT_COME -> "changed on node " + node + there + ", and cannot come home: " + detail;
        case OTHER_NODE -> "changed on node " + node + there;
        case IN_THE_WAY -> detail;
      };
    }
  }

  /**
   * These paths have versions of which none is newer; everything else is on all nodes.
   *
   * @param paths at least one
   */
  record Held(List<HeldPath> paths) implements SyncFailure {
    public Held {
      paths = List.copyOf(paths);
    }
  }

  /** A user has decided about paths of which none is held. */
  record NotHeld(List<String> paths) implements SyncFailure {
    public NotHeld {
      paths = List.copyOf(paths);
    }
  }

  /**
   * The root is one that must be asked for ($HOME, /), or holds more than the limits, and the user
   * did not confirm.
   *
   * @param instead a command after which it need not be asked
   */
  record TooMuch(String root, String why, long files, long bytes, String instead)
      implements SyncFailure {}

  /** No workspace has that many. */
  record TooManyFiles(String root, int most) implements SyncFailure {}

  /**
   * A folder of a node is data, and not pulled.
   *
   * @param where its absolute path there
   * @param why a clause
   */
  record TooLarge(int node, String path, String where, String why) implements SyncFailure {}

  /**
   * Something changed during each attempt.
   *
   * @param path that changed last; empty when the node does not say it
   */
  record KeptChanging(int attempts, int node, String path) implements SyncFailure {}

  record Unreadable(String path, String reason) implements SyncFailure {}

  /** no-space, read-only, denied or limit on a node. */
  record NodeCannotWrite(int node, String code, String path, String detail)
      implements SyncFailure {}

  record NoSuchPath(int node, String path) implements SyncFailure {}

  /** A file of a node is not written here: its name or its place is refused. */
  record NotPulled(int node, String path, String why) implements SyncFailure {}

  /**
   * A file of a node that the user wants is not written here: something that gpush does not send
   * has its place.
   *
   * @param what a clause
   */
  record InTheWay(String path, String what) implements SyncFailure {}

  /** A local file that was to be written. */
  record NotWritten(String path, String reason) implements SyncFailure {}

  /** Two local names are one name on the node, or cannot be there. */
  record BadNames(List<String> paths, String rule) implements SyncFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.FAILED;
  }
}
