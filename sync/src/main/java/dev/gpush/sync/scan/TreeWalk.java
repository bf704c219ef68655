package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.sync.git.IgnoreStack;
import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** One walk over the tree: what is sent, without having read any of it. */
final class TreeWalk {
  /** The limit of one workspace. No source tree is as large; the node refuses more, too. */
  static final int MAX_ENTRIES = 1_000_000;

  /** Linux takes no longer paths. */
  private static final int MAX_PATH_BYTES = 4_096;

  /** This many of a kind are named one by one. */
  private static final int MAX_NAMED = 5;

  /** Something that is sent. */
  record Found(
      String path, Path file, FileStamp.Look look, Optional<String> target, boolean tracked) {}

  /**
   * One name in a folder.
   *
   * @param name as exact as possible
   * @param isUtf8 the name is exact
   */
  private record Child(String name, boolean isUtf8, Path file, FileStamp.Look look) {}

  private final Path root;
  private final IgnoreStack.IndexReader indexes;
  private final List<Found> found = new ArrayList<>();
  private final List<String> badNames = new ArrayList<>();
  private final List<String> oddLinks = new ArrayList<>();
  private final List<String> oddFiles = new ArrayList<>();

  TreeWalk(Path root, IgnoreStack.IndexReader indexes) {
    this.root = root;
    this.indexes = indexes;
  }

  List<Found> walk(IgnoreStack top) throws IOException {
    folder(children(root), top);
    if (!badNames.isEmpty()) {
      throw new GpushException(
          new SyncFailure.BadNames(
              badNames.stream().limit(MAX_NAMED).toList(),
              "a name must be UTF-8, and a path no longer than " + MAX_PATH_BYTES + " bytes"));
    }
    return found;
  }

  /** Files that were left out, but not by an ignore rule, one line each. */
  List<String> warnings() {
    var lines = new ArrayList<String>();
    named(oddLinks, "not sent, because they point out of the workspace", lines);
    named(oddFiles, "not sent, because they are not regular files", lines);
    return lines;
  }

  private static void named(List<String> paths, String what, List<String> lines) {
    if (!paths.isEmpty()) {
      int more = paths.size() - MAX_NAMED;
      String names = String.join(", ", paths.subList(0, Math.min(MAX_NAMED, paths.size())));
      lines.add(what + ": " + names + (more > 0 ? " and " + more + " more" : ""));
    }
  }

  private void folder(Map<String, Child> children, IgnoreStack stack) throws IOException {
    for (Child child : children.values()) {
      boolean isFolder = child.look().isFolder();
      IgnoreStack.Fate fate = stack.decide(child.name(), isFolder).fate();
      if (fate == IgnoreStack.Fate.IGNORED) {
        continue;
      }
      if (!child.isUtf8()) {
        badNames.add(stack.base() + child.name());
        continue;
      }
      if (!isFolder) {
        add(child, stack);
        continue;
      }
      Map<String, Child> below = children(child.file());
      folder(below, stack.enter(child.name(), child.file(), below.keySet(), fate, indexes));
    }
  }

  private void add(Child child, IgnoreStack stack) throws IOException {
    String path = stack.base() + child.name();
    if (path.getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
      badNames.add(path);
      return;
    }
    Optional<String> target = Optional.empty();
    if (child.look().isLink()) {
      target = target(child.file()).filter(text -> staysInside(stack.base(), text));
      if (target.isEmpty()) {
        oddLinks.add(path);
        return;
      }
    } else if (!child.look().isFile()) {
      oddFiles.add(path);
      return;
    }
    if (found.size() == MAX_ENTRIES) {
      throw new GpushException(
          new SyncFailure.TooMuch(
              root.toString(), "it has more than " + MAX_ENTRIES + " files", MAX_ENTRIES, 0));
    }
    found.add(
        new Found(path, child.file(), child.look(), target, stack.isTrackedFile(child.name())));
  }

  private Map<String, Child> children(Path folder) throws IOException {
    var children = new TreeMap<String, Child>(Manifest.ORDER);
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path file : entries) {
        look(file).ifPresent(look -> child(file, look, children));
      }
    } catch (NoSuchFileException | NotDirectoryException gone) {
      return Map.of();
    } catch (DirectoryIteratorException broken) {
      throw unreadable(folder, Objects.requireNonNull(broken.getCause()));
    } catch (AccessDeniedException denied) {
      throw unreadable(folder, denied);
    }
    return children;
  }

  private static void child(Path file, FileStamp.Look look, Map<String, Child> children) {
    Optional<String> name = name(file);
    String known = name.orElse(file.getFileName().toString());
    children.put(known, new Child(known, name.isPresent(), file, look));
  }

  private Optional<FileStamp.Look> look(Path file) throws IOException {
    try {
      return Optional.of(FileStamp.look(file));
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    } catch (AccessDeniedException denied) {
      throw unreadable(file, denied);
    }
  }

  private GpushException unreadable(Path file, IOException why) {
    return new GpushException(
        new SyncFailure.Unreadable(root.relativize(file).toString(), FileReason.of(why)), why);
  }

  /**
   * The last component as UTF-8, whatever locale this JVM was started in: a name that Java may have
   * mistaken is taken from the path's URI, which has its bytes.
   */
  private static Optional<String> name(Path file) {
    String plain = file.getFileName().toString();
    if (isAscii(plain)) {
      return Optional.of(plain);
    }
    String raw = file.toUri().getRawPath();
    String trimmed = raw.endsWith("/") ? raw.substring(0, raw.length() - 1) : raw;
    return decode(trimmed.substring(trimmed.lastIndexOf('/') + 1));
  }

  /** A link's target as UTF-8; empty when it is not, or cannot be read. */
  private static Optional<String> target(Path link) throws IOException {
    Path target;
    try {
      target = Files.readSymbolicLink(link);
    } catch (IOException gone) {
      return Optional.empty();
    }
    if (isAscii(target.toString())) {
      return Optional.of(target.toString());
    }
    URI here = Path.of("").toAbsolutePath().toUri();
    String raw = Path.of("").toAbsolutePath().resolve(target).toUri().getRawPath();
    String start = here.getRawPath();
    if (!raw.startsWith(start)) {
      return Optional.empty();
    }
    // A URI ends in a slash where the target is a folder.
    boolean isAdded = raw.endsWith("/") && !target.toString().endsWith("/");
    return decode(raw.substring(start.length(), raw.length() - (isAdded ? 1 : 0)));
  }

  private static Optional<String> decode(String raw) {
    var bytes = ByteBuffer.allocate(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      if (raw.charAt(i) == '%') {
        bytes.put((byte) Integer.parseInt(raw, i + 1, i + 3, 16));
        i += 2;
      } else {
        bytes.put((byte) raw.charAt(i));
      }
    }
    try {
      return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString());
    } catch (CharacterCodingException notUtf8) {
      return Optional.empty();
    }
  }

  private static boolean isAscii(String text) {
    return text.chars().allMatch(c -> c < 128);
  }

  /** Whether a relative target, from a link in this folder, does not lead above the root. */
  static boolean staysInside(String base, String target) {
    if (target.startsWith("/") || target.isEmpty()) {
      return false;
    }
    int depth = (int) base.chars().filter(c -> c == '/').count();
    for (String part : target.split("/", -1)) {
      if (part.equals("..")) {
        depth--;
      } else if (!part.isEmpty() && !part.equals(".")) {
        depth++;
      }
      if (depth < 0) {
        return false;
      }
    }
    return true;
  }
}
