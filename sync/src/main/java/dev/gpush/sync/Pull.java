package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.sync.git.IgnoreStack;
import dev.gpush.sync.home.LocalFile;
import dev.gpush.sync.home.LocalMoves;
import dev.gpush.sync.home.LocalNames;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.home.NewFile;
import dev.gpush.sync.home.Pulls;
import dev.gpush.sync.home.RefusedFiles;
import dev.gpush.sync.node.Blobs;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.tree.Entry;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Brings a file, link or folder of a node into the working tree: whole or not at all, never outside
 * the root, and never over a change that was made here since the last push without asking.
 */
final class Pull {
  /** A folder that is deeper or larger is data: {@code gpush cp} moves it. */
  private static final int MAX_DEPTH = 64;

  private static final int MAX_NAMES = 10_000;

  private static final String MANY = "it has more than " + MAX_NAMES + " files and folders";

  private static final Set<PosixFilePermission> EXECUTING =
      Set.of(
          PosixFilePermission.OWNER_EXECUTE,
          PosixFilePermission.GROUP_EXECUTE,
          PosixFilePermission.OTHERS_EXECUTE);

  private final Path root;
  private final LocalTree tree;
  private final NodeConversation node;
  private final Pulls pulls;
  private final LocalTrash trash;
  private final Had had;
  private final Talk talk;
  private String asked = "";
  private int names;

  /**
   * What a user wants.
   *
   * @param local where it goes, relative to the root
   */
  private record Wanted(String path, Path local, int depth) {}

  /**
   * Whether the node had what its manifest says.
   *
   * @param isSure but for the paths that are late
   * @param isLate it was changed there just before it was replaced, and stayed
   */
  record Had(boolean isSure, Predicate<String> isLate) {}

  Pull(Path root, LocalTree tree, NodeConversation node, LocalTrash trash, Had had, Talk talk) {
    this.root = root;
    this.tree = tree;
    this.node = node;
    this.pulls = new Pulls(node);
    this.trash = trash;
    this.had = had;
    this.talk = talk;
  }

  /**
   * @param target absolute
   */
  void run(String path, Path target) throws IOException {
    Path checked = target.normalize();
    if (!checked.startsWith(root) || checked.equals(root)) {
      throw new GpushException(
          new UsageFailure.BadValue("path", target.toString(), "a path inside " + root));
    }
    asked = path;
    try (Talk.Step step = talk.step("pulling " + path)) {
      Queue<Wanted> wanted =
          new ArrayDeque<>(List.of(new Wanted(path, root.relativize(checked), 0)));
      while (!wanted.isEmpty()) {
        List<Wanted> inIt = pull(wanted.remove(), step);
        expect(inIt.stream().map(Wanted::path));
        wanted.addAll(inIt);
      }
    }
    trash.prune();
  }

  /** These come home next, in this order, but for some of them. */
  void expect(Stream<String> paths) {
    pulls.expect(paths);
  }

  /** Nothing more is pulled. */
  void end() throws IOException {
    pulls.end();
  }

  /**
   * Brings what was edited home if what is here still is what is expected; else nothing happens.
   *
   * @param keepsHere what is here goes to the trash
   * @param most bytes
   * @return what is here now, if it has come
   * @throws LocalTree.Refused it cannot be here, or cannot be written here
   */
  Optional<Entry> home(Decisions.Coming edit, boolean keepsHere, long most)
      throws IOException, LocalTree.Refused {
    String path = edit.path();
    try {
      Path target = tree.place(Path.of(path));
      if (edit.here().isPresent() && !LocalFile.is(target, edit.here().get())) {
        return Optional.empty();
      }
      Path part = part(target); // First: it may be refused, and the node's bytes follow its answer.
      Json answer = pulls.next(path);
      if (answer.text("kind").equals(Optional.of("folder")) && edit.isDecided()) {
        return folder(edit, target);
      }
      if (answer.text("code").equals(Optional.of("other"))) {
        throw new LocalTree.Refused("what is there is no file, link or folder");
      }
      try {
        Optional<Entry> come = receive(answer, target, part, most);
        if (come.isEmpty()) {
          return come;
        }
        return replace(edit, target, part, keepsHere) ? come : Optional.empty();
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (FileAlreadyExistsException | NoSuchFileException changedHere) {
      return Optional.empty(); // As it is here, then: the node's file stays.
    } catch (FileSystemException failed) {
      throw LocalTree.refused(failed);
    }
  }

  @FunctionalInterface
  interface Bringing {
    Optional<Entry> run() throws IOException, LocalTree.Refused;
  }

  /** A file that the node cannot read stops nothing else. */
  static Optional<Entry> readable(Bringing bringing) throws IOException, LocalTree.Refused {
    try {
      return bringing.run();
    } catch (GpushException failed) {
      if (failed.failure() instanceof SyncFailure.NodeCannotWrite cannot) {
        throw new LocalTree.Refused("the node cannot read it: " + cannot.code());
      }
      if (failed.failure() instanceof SyncFailure.NoSuchPath) {
        return Optional.empty();
      }
      throw failed;
    }
  }

  /** A folder takes the place of a file. What is in it comes home afterwards, as new files do. */
  private Optional<Entry> folder(Decisions.Coming edit, Path target) throws IOException {
    if (edit.here().isPresent()) {
      take(target, edit.path(), edit.here().get());
    }
    return edit.here();
  }

  /**
   * Into a file beside the target; empty when it is neither a file nor a link.
   *
   * @param most bytes: the limit of a day counts what the node said before
   */
  private Optional<Entry> receive(Json answer, Path target, Path part, long most)
      throws IOException, LocalTree.Refused {
    if (answer.text("kind").equals(Optional.of("link"))) {
      String to = answer.text("target").orElse("");
      Optional<String> whyNot = tree.whyNoLink(target, to);
      if (whyNot.isPresent()) {
        throw new LocalTree.Refused(whyNot.orElseThrow());
      }
      Files.createSymbolicLink(part, Path.of(to));
      return Optional.of(new Entry.Link(to));
    }
    if (!answer.text("kind").equals(Optional.of("file"))) {
      return Optional.empty();
    }
    String hash =
        Blobs.receive(node, part, most)
            .orElseThrow(() -> new LocalTree.Refused("it grew while it was on its way"));
    if (Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
      Set<PosixFilePermission> permissions =
          Files.getPosixFilePermissions(target, LinkOption.NOFOLLOW_LINKS);
      permissions.removeAll(EXECUTING);
      Files.setPosixFilePermissions(part, permissions);
    }
    boolean isExecutable = answer.number("x").orElse(0L) == 1;
    if (isExecutable) {
      LocalMoves.makeExecutable(part);
    }
    return Optional.of(new Entry.File(Files.size(part), isExecutable, hash));
  }

  private boolean replace(Decisions.Coming edit, Path target, Path part, boolean keepsHere)
      throws IOException {
    if (edit.here().isEmpty()) {
      LocalMoves.moveIfFree(part, target);
      return true;
    }
    Entry here = edit.here().get();
    LocalMoves.Check isHere = file -> LocalFile.is(file, here);
    return keepsHere
        ? trash.replace(part, target, edit.path(), isHere)
        : LocalMoves.replace(part, target, isHere);
  }

  /**
   * Brings a new file or link home, where nothing is.
   *
   * @return what it is; empty when it is no more on the node
   * @throws LocalTree.Refused it cannot be here, or something else is here
   */
  Optional<Entry> arrive(NewFile file) throws IOException, LocalTree.Refused {
    String path = file.path();
    try {
      Path target = tree.place(Path.of(path));
      if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
        throw new LocalTree.Refused(RefusedFiles.IN_THE_WAY);
      }
      Path part = part(target);
      Json answer = pulls.next(path);
      try {
        Optional<Entry> come = receive(answer, target, part, file.size());
        if (come.isEmpty()) {
          LocalMoves.removeEmpty(Objects.requireNonNull(target.getParent()), root.toRealPath());
        } else {
          LocalMoves.moveIfFree(part, target);
        }
        return come;
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (FileAlreadyExistsException madeHere) {
      throw new LocalTree.Refused(RefusedFiles.IN_THE_WAY);
    } catch (FileSystemException failed) {
      throw LocalTree.refused(failed);
    }
  }

  /**
   * Moves a file that was deleted on the node into the trash, if it still is what was sent. Folders
   * that are empty then go, too.
   *
   * @param isDecided by a user, who is told why it cannot be moved
   * @return where it is now; empty when it was changed here, or cannot be moved
   */
  Optional<Path> remove(NewFile.Deleted deleted, boolean isDecided) throws IOException {
    try {
      Path place = tree.place(Path.of(deleted.path()));
      Optional<Path> kept = take(place, deleted.path(), deleted.sent());
      if (kept.isPresent()) {
        LocalMoves.removeEmpty(Objects.requireNonNull(place.getParent()), root.toRealPath());
      }
      return kept;
    } catch (LocalTree.Refused refused) {
      return unmoved(deleted, isDecided, refused);
    } catch (FileSystemException failed) {
      return unmoved(deleted, isDecided, LocalTree.refused(failed));
    }
  }

  private Optional<Path> unmoved(
      NewFile.Deleted deleted, boolean isDecided, LocalTree.Refused refused) {
    if (isDecided) {
      throw notPulled(deleted.path(), refused);
    }
    return Optional.empty();
  }

  /**
   * Renames a file here as it was renamed on the node, if it still is what was sent.
   *
   * @return what it is; empty when it was changed here
   * @throws LocalTree.Refused its new name cannot be here, or something else has it here
   */
  Optional<Entry> rename(NewFile.Deleted from, String path) throws IOException, LocalTree.Refused {
    try {
      Path target = tree.place(Path.of(path));
      if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
        throw new LocalTree.Refused(RefusedFiles.IN_THE_WAY);
      }
      Path place = tree.place(Path.of(from.path()));
      Optional<Path> kept = take(place, from.path(), from.sent());
      if (kept.isEmpty()) {
        return Optional.empty();
      }
      try {
        trash.giveBack(kept.get(), target);
      } catch (FileSystemException failed) {
        trash.giveBack(kept.get(), place);
        throw failed;
      }
      LocalMoves.removeEmpty(Objects.requireNonNull(place.getParent()), root.toRealPath());
      return Optional.of(from.sent());
    } catch (FileAlreadyExistsException madeHere) {
      throw new LocalTree.Refused(RefusedFiles.IN_THE_WAY);
    } catch (FileSystemException failed) {
      throw LocalTree.refused(failed);
    }
  }

  /** Into the trash before it is looked at: what is saved here meanwhile is another file. */
  private Optional<Path> take(Path place, String path, Entry expected) throws IOException {
    if (!LocalFile.is(place, expected)) {
      return Optional.empty();
    }
    Path kept = trash.take(place, path);
    if (LocalFile.is(kept, expected)) {
      return Optional.of(kept);
    }
    trash.giveBack(kept, place);
    return Optional.empty();
  }

  /** Pulls a file or a link; of a folder, returns what is in it. */
  private List<Wanted> pull(Wanted wanted, Talk.Step step) throws IOException {
    String path = wanted.path();
    Json answer = pulls.next(path);
    if (answer.text("code").isPresent()) {
      throw new GpushException(new SyncFailure.NoSuchPath(node.index(), path));
    }
    if (answer.text("kind").equals(Optional.of("folder"))) {
      return folder(wanted, answer);
    }
    step.detail(path);
    try {
      take(path, answer, tree.place(wanted.local()));
    } catch (LocalTree.Refused refused) {
      throw notPulled(path, refused);
    } catch (FileSystemException failed) {
      throw notPulled(path, LocalTree.refused(failed));
    }
    return List.of();
  }

  private List<Wanted> folder(Wanted wanted, Json answer) {
    if (wanted.depth() == MAX_DEPTH) {
      throw tooLarge("folders in it are nested more than " + MAX_DEPTH + " deep");
    }
    Map<String, Path> inIt = children(wanted.path(), wanted.local(), answer.texts("names"));
    names += inIt.size();
    if (!answer.flag("all") || names > MAX_NAMES) {
      throw tooLarge(MANY);
    }
    return inIt.entrySet().stream()
        .map(
            each ->
                new Wanted(
                    wanted.path() + "/" + each.getKey(), each.getValue(), wanted.depth() + 1))
        .toList();
  }

  /** The place of each name; checked before anything of the folder is written. */
  private Map<String, Path> children(String path, Path local, List<String> names) {
    var children = new LinkedHashMap<String, Path>();
    var folded = new HashMap<String, String>();
    try {
      for (String name : names) {
        if (IgnoreStack.isNever(name) || name.equals(IgnoreStack.GIT)) {
          continue;
        }
        children.put(name, LocalTree.below(local, name));
        Optional<String> other = Optional.ofNullable(folded.put(LocalNames.folded(name), name));
        if (other.isPresent()) {
          throw new LocalTree.Refused(
              "'"
                  + other.get()
                  + "' and '"
                  + name
                  + "' are the same name on some disks; pull them one by one");
        }
      }
    } catch (LocalTree.Refused refused) {
      throw notPulled(path, refused);
    }
    return children;
  }

  private GpushException tooLarge(String why) {
    return new GpushException(
        new SyncFailure.TooLarge(node.index(), asked, node.where(asked), why));
  }

  GpushException notPulled(String path, LocalTree.Refused refused) {
    String why = String.valueOf(refused.getMessage());
    return new GpushException(
        refused.getCause() == null
            ? new SyncFailure.NotPulled(node.index(), path, why)
            : new SyncFailure.NotWritten(path, why),
        refused);
  }

  private void take(String path, Json answer, Path target) throws IOException {
    Path part = part(target);
    try {
      Optional<Entry> come = receive(answer, target, part, Long.MAX_VALUE);
      if (come.isPresent() && !isHere(target, come.get())) {
        put(part, target);
      }
    } catch (LocalTree.Refused refused) {
      talk.say("not pulled, because " + refused.getMessage() + ": " + path);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private Path part(Path target) throws IOException {
    Path part = target.resolveSibling("." + target.getFileName() + ".gpush-part");
    // It may be what was here, if the gateway was killed while the two changed places.
    trash.takeIfThere(part, tree.inTree(part));
    return part;
  }

  /**
   * Asks before it replaces what exists only here, which goes to the trash then. So does what may
   * exist only here.
   */
  private void put(Path part, Path target) throws IOException {
    String path = tree.inTree(target);
    if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      LocalMoves.moveIfFree(part, target);
      return;
    }
    boolean isLate = had.isLate().test(path);
    if (!isLate && had.isSure() && LocalMoves.replace(part, target, file -> isAsSent(path, file))) {
      return;
    }
    if (!isAsSent(path, target)) {
      talk.confirm(path + " was changed here since the last push. Replace it?", "--yes");
    } else if (isLate) {
      talk.confirm(
          "Node " + node.index() + " never had " + path + " as here. Replace it?", "--yes");
    }
    Path kept = trash.take(target, path);
    try {
      LocalMoves.moveIfFree(part, target);
    } catch (FileSystemException failed) {
      String where = "";
      try {
        trash.giveBack(kept, target);
      } catch (IOException madeHere) {
        where = "; the one before is " + kept;
      }
      throw new GpushException(
          new SyncFailure.NotWritten(path, FileReason.of(failed) + where), failed);
    }
    talk.say("what was here is kept: " + kept);
  }

  /** A file that was pushed and not changed since is, or was, on the node too. */
  private boolean isAsSent(String path, Path file) throws IOException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new GpushException(new SyncFailure.NotWritten(path, "a folder of this name is here"));
    }
    Optional<Entry> pushed = node.holds().manifest().get(path);
    return pushed.isPresent() && LocalFile.is(file, pushed.get());
  }

  private static boolean isHere(Path target, Entry entry) throws IOException {
    return Files.exists(target, LinkOption.NOFOLLOW_LINKS) && LocalFile.is(target, entry);
  }
}
