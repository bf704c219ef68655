package dev.gpush.core.failure;

import java.util.List;

/** Files could not be brought to the nodes; no node moved to the new generation. */
public sealed interface SyncFailure extends Failure {
  /** A path that gpush will not overwrite: {@code why} is changed, foreign, type or parent. */
  record Conflict(int node, String path, String why) {}

  record Conflicts(List<Conflict> conflicts) implements SyncFailure {
    public Conflicts {
      conflicts = List.copyOf(conflicts);
    }
  }

  /**
   * The root is one that must be asked for ($HOME, /), or holds more than the limits, and the user
   * did not confirm.
   */
  record TooMuch(String root, String why, long files, long bytes) implements SyncFailure {}

  record Unreadable(String path, String reason) implements SyncFailure {}

  /** no-space, read-only, denied or limit on a node. */
  record NodeCannotWrite(int node, String code, String path, String detail)
      implements SyncFailure {}

  /**
   * Many files are gone on the editors' node, perhaps by accident; nothing was deleted.
   *
   * @param of the files of the workspace
   */
  record ManyDeleted(int node, List<String> paths, int of) implements SyncFailure {
    public ManyDeleted {
      paths = List.copyOf(paths);
    }
  }

  record NoSuchPath(int node, String path) implements SyncFailure {}

  /** A file of a node is not written here: its name or its place is refused. */
  record NotPulled(int node, String path, String why) implements SyncFailure {}

  /** A local file that was to be written. */
  record NotWritten(String path, String reason) implements SyncFailure {}

  /** Two local names are one name on the node, or cannot be there. */
  record BadNames(List<String> paths, String rule) implements SyncFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.FAILED;
  }
}
