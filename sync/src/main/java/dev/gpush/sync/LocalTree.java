package dev.gpush.sync;

import dev.gpush.core.file.FileReason;
import dev.gpush.sync.home.LocalNames;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides where in the working tree a node's files may be written. Folders are made one by one and
 * their real path is checked, so no link leads out of the tree or into {@code .git}. A file that
 * the disk finds under another name is not touched. For one thread and one pull.
 */
final class LocalTree {
  /** Nothing of this file is written; the message is a sentence that says why. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    Refused(String why) {
      super(why);
    }

    private Refused(String why, FileSystemException failed) {
      super(why, failed);
    }
  }

  private static final String OUT = "it points out of the workspace";

  private final Path root;

  /** Names in a folder, as its disk has them; read when something may be in the way. */
  private final Map<Path, Set<String>> listed = new HashMap<>();

  /**
   * @param root the real path of the tree
   */
  LocalTree(Path root) {
    this.root = root;
  }

  static LocalTree of(Path root) throws IOException {
    return new LocalTree(root.toRealPath());
  }

  /**
   * The path for a file, whose folder exists and is really in the tree.
   *
   * @param path relative to the root, with all names in it
   */
  Path place(Path path) throws IOException, Refused {
    for (Path name : path) {
      requireName(name.toString());
    }
    Path folder = root;
    int last = path.getNameCount() - 1;
    for (int i = 0; i < last; i++) {
      folder = folder(folder, path.getName(i));
    }
    Path place = folder.resolve(path.getName(last));
    requireOwnName(place);
    return place;
  }

  /** A name from the node below a place in the tree. */
  static Path below(Path path, String name) throws Refused {
    requireName(name);
    try {
      return path.resolve(name);
    } catch (InvalidPathException notHere) {
      throw new Refused("'" + name + "' has characters that file names here cannot have");
    }
  }

  private static void requireName(String name) throws Refused {
    Optional<String> refusal = LocalNames.refusal(name);
    if (refusal.isPresent()) {
      throw new Refused("'" + name + "' is refused: " + refusal.get());
    }
  }

  /** Its path in the tree, with links resolved. */
  String inTree(Path place) {
    return root.relativize(place).toString();
  }

  private Path folder(Path parent, Path name) throws IOException, Refused {
    Path folder = parent.resolve(name);
    requireOwnName(folder);
    if (!exists(folder)) {
      Files.createDirectory(folder);
    }
    Path real;
    try {
      real = folder.toRealPath();
    } catch (NoSuchFileException dangling) {
      throw new Refused(inTree(folder) + " here is a dangling link");
    }
    requireInside(folder, real);
    if (!Files.isDirectory(real)) {
      throw new Refused(inTree(folder) + " is not a folder here");
    }
    return real;
  }

  private void requireInside(Path folder, Path real) throws Refused {
    if (!real.startsWith(root)) {
      throw new Refused(inTree(folder) + " here is a link that leads out of the workspace");
    }
    if (hasGit(root.relativize(real))) {
      throw new Refused(inTree(folder) + " here is a link that leads into .git");
    }
  }

  private static boolean hasGit(Path path) {
    for (Path name : path) {
      if (LocalNames.isGit(name.toString())) {
        return true;
      }
    }
    return false;
  }

  /**
   * The disk may find a file under a name that it does not have: then it belongs to another name.
   */
  private void requireOwnName(Path file) throws IOException, Refused {
    if (!exists(file)) {
      return;
    }
    Path folder = file.resolveSibling("");
    String name = composed(file.getFileName().toString());
    Set<String> names = listed.get(folder);
    if (names == null || !names.contains(name)) {
      names = names(folder);
      listed.put(folder, names);
    }
    if (!names.contains(name)) {
      throw new Refused(otherName(file, names));
    }
  }

  private static String otherName(Path file, Set<String> names) {
    String name = file.getFileName().toString();
    String folded = LocalNames.folded(name);
    String other =
        names.stream()
            .filter(each -> LocalNames.folded(each).equals(folded))
            .findFirst()
            .map(each -> "'" + each + "'")
            .orElse("another file");
    return "'" + name + "' and " + other + " here are one name on this disk";
  }

  private static Set<String> names(Path folder) throws IOException {
    var names = new HashSet<String>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        names.add(composed(entry.getFileName().toString()));
      }
    }
    return names;
  }

  /** Some disks give names back in another form of Unicode than they got. */
  private static String composed(String name) {
    return Normalizer.normalize(name, Normalizer.Form.NFC);
  }

  private static boolean exists(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Why a link is not made; empty when it may be. {@code ..} is allowed only at the beginning,
   * where it means the folders above: after the name of a link it would mean others.
   *
   * @param place as {@link #place} gave it
   */
  Optional<String> whyNoLink(Path place, String target) {
    if (LocalNames.isGitModules(place.getFileName().toString())) {
      return Optional.of("git would follow it");
    }
    if (target.isEmpty() || target.startsWith("/") || target.indexOf('\0') >= 0) {
      return Optional.of(OUT);
    }
    int above = root.relativize(place).getNameCount() - 1;
    boolean hasNames = false;
    for (String name : target.split("/", -1)) {
      if (LocalNames.isGit(name)) {
        return Optional.of("it points into .git");
      }
      if (name.equals("..")) {
        above--;
        if (above < 0 || hasNames) {
          return Optional.of(OUT);
        }
      }
      hasNames |= !name.isEmpty() && !name.equals(".") && !name.equals("..");
    }
    return Optional.empty();
  }

  /** The refusal for a failure of this machine's disk, which is its cause. */
  static Refused refused(FileSystemException failed) {
    boolean isExplained = failed.getReason() != null || failed instanceof AccessDeniedException;
    return new Refused(
        isExplained
            ? FileReason.of(failed) + " here"
            : failed.getFile() + " cannot be written here",
        failed);
  }
}
