package dev.gpush.launch.node;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which Pythons are tried on a node, in order; the first that exists is used. {@code --python} >
 * gpush.yaml > .venv or uv.lock of the workspace > active environment > python3 on PATH. If the
 * user names one, it is used or the run fails; no other one is tried.
 *
 * @param candidates as probe.sh takes them
 */
public record PythonChoice(List<String> candidates) {
  private static final String ACTIVE_VENV = "@venv";
  private static final String ACTIVE_CONDA = "@conda";

  public PythonChoice {
    candidates = List.copyOf(candidates);
  }

  /**
   * The Pythons to try for one launch.
   *
   * @param asked {@code --python}, else the interpreter of a pasted command: relative to the folder
   * @param configured gpush.yaml's: relative to the root
   * @param folder the client's current folder, below the workspace's root
   * @param workspace the node's copy of the workspace
   */
  public static PythonChoice of(
      Optional<String> asked,
      Optional<String> configured,
      Path root,
      Path folder,
      boolean onThisMachine,
      String workspace) {
    Optional<String> named =
        asked
            .map(text -> named(text, root, folder, onThisMachine, workspace))
            .or(() -> configured.map(text -> named(text, root, root, onThisMachine, workspace)));
    if (named.isPresent()) {
      return new PythonChoice(List.of(named.get()));
    }
    var candidates = new ArrayList<String>();
    // .venv is never sent: on this machine it is the client's own, elsewhere it was made on the
    // node.
    if (onThisMachine) {
      environmentAbove(folder, root).ifPresent(found -> candidates.add(found.toString()));
    } else {
      candidates.add(workspace + "/.venv");
    }
    candidates.addAll(List.of(ACTIVE_VENV, ACTIVE_CONDA, "python3", "python"));
    return new PythonChoice(candidates);
  }

  /**
   * A lock file shows that uv makes the environment; without it, another Python would lack its
   * packages.
   */
  public static boolean lacksUvEnvironment(Path root, Path folder, boolean onThisMachine) {
    return onThisMachine
        && environmentAbove(folder, root).isEmpty()
        && Files.exists(root.resolve("uv.lock"));
  }

  /**
   * "3.11" is a version; a name with a slash is a path, here or on the node; any other is a name on
   * PATH.
   */
  private static String named(
      String text, Path root, Path folder, boolean onThisMachine, String workspace) {
    if (text.matches("[0-9]+(\\.[0-9]+)*")) {
      return "python" + text;
    }
    if (!text.contains("/") || text.startsWith("/") || text.startsWith("~")) {
      return text.equals(".venv") || text.equals("venv")
          ? named("./" + text, root, folder, onThisMachine, workspace)
          : text;
    }
    Path local = folder.resolve(text).normalize();
    // On this machine it may be the client's own, or one that setup makes in the node's workspace.
    if (!local.startsWith(root) || (onThisMachine && Files.exists(local))) {
      return local.toString();
    }
    return workspace + "/" + root.relativize(local);
  }

  private static Optional<Path> environmentAbove(Path folder, Path root) {
    if (!folder.startsWith(root)) {
      return Optional.of(root.resolve(".venv")).filter(Files::isDirectory);
    }
    for (Path at = folder; at.startsWith(root); at = at.getParent()) {
      Path found = at.resolve(".venv");
      if (Files.isDirectory(found)) {
        return Optional.of(found);
      }
      if (at.getParent() == null) {
        break;
      }
    }
    return Optional.empty();
  }

  /** For failures: the candidates, in words. */
  List<String> words() {
    return candidates.stream()
        .map(
            candidate ->
                switch (candidate) {
                  case ACTIVE_VENV -> "$VIRTUAL_ENV";
                  case ACTIVE_CONDA -> "$CONDA_PREFIX";
                  default -> candidate;
                })
        .toList();
  }
}
