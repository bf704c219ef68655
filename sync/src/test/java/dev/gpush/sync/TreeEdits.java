package dev.gpush.sync;

import dev.gpush.sync.Versions.Item;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** What people, their editors, git and ranks do in a tree, at random. */
final class TreeEdits {
  /** It is there always, so that no tree is empty. */
  static final String KEPT = "kept.py";

  /** The rules, which do not change. */
  static final String RULES = ".gpushignore";

  private static final List<String> NAMES = List.of("n0", "n1", "n2", "n3", "n4", "m.py", "k.md");
  private static final int LONGEST = 6_000;
  private static final int MOST_COMMITS = 4;

  /** A save that has begun: until its end the file is empty, or has half of it. */
  private record Save(String path, String text) {}

  private final Random random;
  private final Versions versions;
  private final Map<Path, Save> begun = new HashMap<>();
  private final List<Map<String, Item>> commits = new ArrayList<>();

  TreeEdits(Random random, Versions versions) {
    this.random = random;
    this.versions = versions;
  }

  /** What no rule and no name keeps from the other side. */
  static boolean isMoved(String path) {
    return !path.endsWith(".ign") && !isOutput(path);
  }

  static boolean isOutput(String path) {
    return path.endsWith(".log") || path.startsWith("ckpt/");
  }

  /** A person does one thing. */
  void person(Path root) throws IOException {
    if (begun.containsKey(root) && random.nextInt(3) > 0) {
      endSave(root, begun.remove(root));
      return;
    }
    List<String> names = new ArrayList<>(Versions.items(root).keySet());
    names.removeIf(name -> name.equals(KEPT) || name.equals(RULES) || !isMoved(name));
    String some = names.isEmpty() ? path() : names.get(random.nextInt(names.size()));
    switch (random.nextInt(16)) {
      case 0, 1 -> delete(root.resolve(some));
      case 2, 3 -> rename(root, some);
      case 4 -> delete(root.resolve(path())); // perhaps a folder
      case 5 -> unseen(root.resolve(some));
      case 6 -> link(root, root.getParent().resolve("outside"));
      case 7 -> link(root, Path.of(KEPT));
      case 8 -> mode(root.resolve(some));
      case 9 -> beginSave(root, some);
      case 10 -> git(root);
      case 11 -> write(root, (random.nextBoolean() ? folder(path()) : "") + "x.ign", next());
      case 12 -> saveByRename(root, some);
      case 13, 14 -> write(root, path(), next());
      default -> write(root, some, next());
    }
  }

  /** Texts that may come back. */
  Set<String> remembered() {
    var texts = new HashSet<String>();
    commits.forEach(commit -> texts.addAll(Versions.texts(commit.values())));
    return texts;
  }

  /** A rank writes output, and against all advice into the code. */
  void rank(Path root) throws IOException {
    switch (random.nextInt(4)) {
      case 0 -> write(root, "ckpt/" + NAMES.get(random.nextInt(NAMES.size())), next());
      case 1 -> write(root, "loss.log", next());
      case 2 -> write(root, path(), next());
      default -> person(root);
    }
  }

  private String next() {
    return versions.next(random.nextInt(6) == 0 ? random.nextInt(LONGEST) : 3);
  }

  /** The names of files and folders are the same, so each may be where the other was. */
  private String path() {
    var path = new StringBuilder(name());
    while (random.nextInt(3) == 0) {
      path.append('/').append(name());
    }
    return path.toString();
  }

  private String name() {
    return NAMES.get(random.nextInt(NAMES.size()));
  }

  private static String folder(String path) {
    return path.substring(0, path.lastIndexOf('/') + 1);
  }

  private static void delete(Path file) throws IOException {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      new WorkFolder(file.getParent()).delete(file.getFileName().toString());
    }
  }

  /** What is in the way of its folders goes. */
  private static void write(Path root, String path, String text) throws IOException {
    Files.writeString(cleared(root, path), text);
  }

  private static Path cleared(Path root, String path) throws IOException {
    Path at = root;
    for (Path name : Path.of(path)) {
      at = at.resolve(name);
      boolean isLast = at.equals(root.resolve(path));
      if (Files.isDirectory(at, LinkOption.NOFOLLOW_LINKS) == isLast || Files.isSymbolicLink(at)) {
        delete(at);
      }
    }
    Files.createDirectories(at.getParent());
    return at;
  }

  /** An editor saves this file, if it is one. */
  void save(Path root, String path) throws IOException {
    if (Files.isRegularFile(root.resolve(path), LinkOption.NOFOLLOW_LINKS)
        && isMoved(path)
        && !path.equals(RULES)) {
      if (random.nextBoolean()) {
        saveByRename(root, path);
      } else {
        write(root, path, next());
      }
    }
  }

  /** A person changes their mind about these. */
  void saveOrDelete(Path root, Set<String> paths) throws IOException {
    for (String path : paths) {
      if (random.nextBoolean()) {
        save(root, path);
      } else if (isMoved(path) && !path.equals(KEPT) && !path.equals(RULES)) {
        deleteFile(root.resolve(path));
      }
    }
  }

  private static void deleteFile(Path file) throws IOException {
    if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.delete(file);
    }
  }

  private void saveByRename(Path root, String path) throws IOException {
    String text = next();
    Path file = cleared(root, path);
    Path beside = file.resolveSibling(".saved~");
    Files.writeString(beside, text);
    Files.move(beside, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private void beginSave(Path root, String path) throws IOException {
    if (Files.isRegularFile(root.resolve(path), LinkOption.NOFOLLOW_LINKS)) {
      String text = next();
      Files.writeString(root.resolve(path), random.nextBoolean() ? "" : versions.part(text));
      begun.put(root, new Save(path, text));
    }
  }

  private static void endSave(Path root, Save save) throws IOException {
    if (Files.isRegularFile(root.resolve(save.path()), LinkOption.NOFOLLOW_LINKS)) {
      Files.writeString(root.resolve(save.path()), save.text());
    }
  }

  private void rename(Path root, String from) throws IOException {
    Path source = root.resolve(from);
    String to = path();
    if (Files.exists(source, LinkOption.NOFOLLOW_LINKS)
        && !root.resolve(to).startsWith(source)
        && !source.startsWith(root.resolve(to))) {
      Path target = cleared(root, to);
      if (Files.exists(source, LinkOption.NOFOLLOW_LINKS)) {
        Files.move(source, target, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  /** Of the same size, and with the time of the last version, or of another year. */
  private void unseen(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    FileTime time = Files.getLastModifiedTime(file);
    int number = versions.next(0).length();
    Files.writeString(file, versions.next(Math.max(0, (int) Files.size(file) - number)));
    Instant then =
        random.nextBoolean()
            ? time.toInstant()
            : time.toInstant().plusSeconds(random.nextInt(-100_000_000, 100_000_000));
    Files.setLastModifiedTime(file, FileTime.from(then));
  }

  /** A folder or file becomes a link. */
  private void link(Path root, Path target) throws IOException {
    Path link = cleared(root, name());
    delete(link);
    Files.createSymbolicLink(link, target);
  }

  private static void mode(Path file) throws IOException {
    if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      new WorkFolder(file.getParent())
          .executable(file.getFileName().toString(), !Files.isExecutable(file));
    }
  }

  /** Remembers the tree, or makes it one of those that it was: many files at once. */
  private void git(Path root) throws IOException {
    var now = new HashMap<>(Versions.items(root));
    now.keySet().removeIf(path -> !isMoved(path));
    if (commits.size() < MOST_COMMITS || random.nextInt(3) == 0) {
      if (commits.size() == MOST_COMMITS) {
        commits.removeFirst();
      }
      commits.add(now);
      return;
    }
    Map<String, Item> then = commits.get(random.nextInt(commits.size()));
    for (String path : now.keySet()) {
      if (!then.containsKey(path) && !path.equals(KEPT) && !path.equals(RULES)) {
        delete(root.resolve(path));
      }
    }
    for (Map.Entry<String, Item> each : then.entrySet()) {
      Item item = each.getValue();
      if (!item.equals(now.get(each.getKey())) && !item.isLink()) {
        write(root, each.getKey(), item.text());
        new WorkFolder(root).executable(each.getKey(), item.isExecutable());
      }
    }
  }
}
