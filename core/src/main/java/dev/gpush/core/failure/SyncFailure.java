package dev.gpush.core.failure;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Why files of the workspace were not sent to the nodes, or not brought from one. Nothing was sent,
 * unless the case says that everything else was.
 */
public sealed interface SyncFailure extends Failure {
  /**
   * A path of the workspace whose versions here and on a node both changed, or that something else
   * keeps from being synced: all versions stay where they are until the user decides.
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
   * These paths are held; everything else is on all nodes.
   *
   * @param paths at least one
   */
  record Held(List<HeldPath> paths) implements SyncFailure {
    public Held {
      paths = List.copyOf(paths);
    }
  }

  /** The user has decided about these paths, but none of them is held; everything else is done. */
  record NotHeld(List<String> paths) implements SyncFailure {
    public NotHeld {
      paths = List.copyOf(paths);
    }
  }

  /**
   * The root is an unusual one ($HOME, /) or holds more than the limits, and the user did not
   * confirm it.
   *
   * @param instead a command that avoids the question
   */
  record TooMuch(String root, String why, long files, long bytes, String instead)
      implements SyncFailure {}

  /** The root holds more files than any workspace may have. */
  record TooManyFiles(String root, int most) implements SyncFailure {}

  /**
   * A folder of a node is not pulled, because it is data.
   *
   * @param where its absolute path there
   * @param why a clause
   */
  record TooLarge(int node, String path, String where, String why) implements SyncFailure {}

  /**
   * A file changed on the node during each attempt.
   *
   * @param path the last one that changed; empty when the node does not name it
   */
  record KeptChanging(int attempts, int node, String path) implements SyncFailure {}

  record Unreadable(String path, String reason) implements SyncFailure {}

  /**
   * A node cannot write a file.
   *
   * @param code no-space, read-only, denied or limit
   */
  record NodeCannotWrite(int node, String code, String path, String detail)
      implements SyncFailure {}

  record NoSuchPath(int node, String path) implements SyncFailure {}

  /** A file of a node is not written here: its name or its place is refused. */
  record NotPulled(int node, String path, String why) implements SyncFailure {}

  /**
   * The user wants a node's version of a file, but something that gpush does not send is in its
   * place here.
   *
   * @param what a clause
   */
  record InTheWay(String path, String what) implements SyncFailure {}

  /** A local file could not be written. */
  record NotWritten(String path, String reason) implements SyncFailure {}

  /** Two local names are one name on the node, or cannot be there. */
  record BadNames(List<String> paths, String rule) implements SyncFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.FAILED;
  }
}
