package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.Conflict;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Brings a file, link or folder of a node into the working tree: whole or not at all, never outside
 * the root, and never over a change that was made here since the last push without asking.
 */
final class Pull {
  /** A folder that is deeper or larger is data: {@code gpush cp} moves it. */
  private static final int MAX_DEPTH = 64;

  private static final int MAX_FILES = 10_000;

  private final Path root;
  private final NodeConversation node;
  private final Talk talk;
  private int files;

  Pull(Path root, NodeConversation node, Talk talk) {
    this.root = root;
    this.node = node;
    this.talk = talk;
  }

  /**
   * @param target absolute
   */
  void run(String path, Path target) throws IOException {
    Path checked = target.normalize();
    boolean isOfGit = false;
    for (Path part : checked) {
      isOfGit |= part.toString().equals(IgnoreStack.GIT);
    }
    if (!checked.startsWith(root) || checked.equals(root) || isOfGit) {
      throw new GpushException(
          new UsageFailure.BadValue("path", target.toString(), "it must lie in " + root));
    }
    try (Talk.Step step = talk.step("pulling " + path)) {
      pull(path, checked, 0, step);
    }
  }

  private void pull(String path, Path target, int depth, Talk.Step step) throws IOException {
    Json answer = node.pull(path);
    if (answer.text("code").isPresent()) {
      throw new GpushException(new SyncFailure.NoSuchPath(node.index(), path));
    }
    if (answer.text("kind").equals(Optional.of("folder"))) {
      if (depth == MAX_DEPTH || !answer.flag("all")) {
        throw tooMuch(path);
      }
      for (String name : answer.texts("names")) {
        if (name.isEmpty() || name.contains("/") || name.startsWith("..") || name.equals(".")) {
          throw new IOException("a folder with the name " + name);
        }
        if (!IgnoreStack.NEVER.contains(name) && !name.equals(IgnoreStack.GIT)) {
          pull(path + "/" + name, target.resolve(name), depth + 1, step);
        }
      }
      return;
    }
    files++;
    if (files > MAX_FILES) {
      throw tooMuch(path);
    }
    step.detail(path);
    Path part = prepare(target);
    try {
      if (answer.text("kind").equals(Optional.of("link"))) {
        link(path, answer.text("target").orElse(""), target, part);
      } else {
        file(answer.number("x").orElse(0L) == 1, target, part);
      }
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private GpushException tooMuch(String path) {
    return new GpushException(
        new SyncFailure.TooMuch(path, "a folder of more than " + MAX_FILES + " files", files, 0));
  }

  /**
   * The name of the file in the making, beside the target, in a folder that really is in the root.
   */
  private Path prepare(Path target) throws IOException {
    Path folder = target.getParent();
    if (folder == null) {
      throw new IllegalStateException("a target without a folder: " + target);
    }
    Path existing = folder;
    while (!Files.exists(existing)) {
      existing = Objects.requireNonNull(existing.getParent(), "the root of the file system exists");
    }
    if (!existing.toRealPath().startsWith(root.toRealPath())) {
      throw new GpushException(
          new UsageFailure.BadValue("path", target.toString(), "a link leads out of " + root));
    }
    Files.createDirectories(folder);
    Path part = folder.resolve("." + target.getFileName() + ".gpush-part");
    Files.deleteIfExists(part);
    return part;
  }

  private void link(String path, String to, Path target, Path part) throws IOException {
    Path base = root.relativize(target);
    if (!TreeWalk.staysInside(base.toString(), to)) {
      talk.say("not pulled, because it points out of the workspace: " + path);
      return;
    }
    Files.createSymbolicLink(part, Path.of(to));
    if (Files.isSymbolicLink(target) && Files.readSymbolicLink(target).equals(Path.of(to))) {
      return;
    }
    askToReplace(target);
    Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
  }

  private void file(boolean executable, Path target, Path part) throws IOException {
    String hash = receive(part);
    if (executable) {
      makeExecutable(part);
    }
    boolean isSame =
        Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS) && hash(target).equals(hash);
    if (!isSame) {
      askToReplace(target);
    }
    if (!isSame || Files.isExecutable(target) != executable) {
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private String receive(Path part) throws IOException {
    MessageDigest digest = Hashes.digest();
    try (WritableByteChannel out =
        Files.newByteChannel(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (true) {
        Blobs.Piece piece = node.readPiece();
        digest.update(piece.data().duplicate());
        out.write(piece.data());
        if (piece.isLast()) {
          String hash = Hashes.hex(digest.digest());
          if (!hash.equals(piece.hash())) {
            throw new IOException("what came has not its hash");
          }
          return hash;
        }
      }
    }
  }

  private static void makeExecutable(Path file) throws IOException {
    var permissions = Files.getPosixFilePermissions(file);
    for (String who : List.of("OWNER", "GROUP", "OTHERS")) {
      if (permissions.contains(PosixFilePermission.valueOf(who + "_READ"))) {
        permissions.add(PosixFilePermission.valueOf(who + "_EXECUTE"));
      }
    }
    Files.setPosixFilePermissions(file, permissions);
  }

  /**
   * What was pushed from here and not touched since is on the node or was; anything else exists
   * only here.
   */
  private void askToReplace(Path target) throws IOException {
    if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    String path = root.relativize(target).toString();
    if (Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new GpushException(
          new SyncFailure.Conflicts(List.of(new Conflict(node.index(), path, "type"))));
    }
    Optional<Entry> base = node.holds().manifest().get(path);
    boolean isOnlyHere =
        Files.isSymbolicLink(target)
            ? !base.equals(Optional.of(new Entry.Link(Files.readSymbolicLink(target).toString())))
            : !(base.isPresent()
                && base.orElseThrow() instanceof Entry.File(_, _, var pushed)
                && pushed.equals(hash(target)));
    if (isOnlyHere) {
      talk.confirm(path + " was changed here since the last push. Replace it?", "--yes");
    }
  }

  private static String hash(Path file) throws IOException {
    MessageDigest digest = Hashes.digest();
    try (var in = Files.newInputStream(file)) {
      byte[] piece = in.readNBytes(Wire.MAX_PIECE);
      while (piece.length > 0) {
        digest.update(piece);
        piece = in.readNBytes(Wire.MAX_PIECE);
      }
    }
    return Hashes.hex(digest.digest());
  }
}
