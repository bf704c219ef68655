package dev.gpush.sync;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The versions of files that people and ranks have made. No text is made twice, so where a text is
 * found says what became of its version. A version must be somewhere until the person who has it
 * replaces or deletes it: on the laptop or on the editors' node, if it has come there, else on the
 * node where it was made.
 */
final class Versions {
  static final int LAPTOP = -1;
  static final int EDITORS = 0;

  /** What is at a path: a file with its text, or a link with its target. */
  record Item(String text, boolean isExecutable, boolean isLink) {
    /** Its beginning, which is its number. */
    @Override
    public String toString() {
      int end = text.indexOf(' ');
      String name = text.substring(0, end < 0 ? Math.min(20, text.length()) : end);
      return (isLink ? "→ " : isExecutable ? "x " : "") + name;
    }
  }

  private final Set<String> known = new HashSet<>(Set.of(""));

  /** Those that must be somewhere, and where they were made. */
  private final Map<String, Integer> wanted = new HashMap<>();

  /** Those that are nowhere yet. */
  private final Set<String> fresh = new HashSet<>();

  /** By nodes: what is there as gpush has sent it. */
  private final Map<Integer, Map<String, Item>> sent = new HashMap<>();

  private int made;

  /** Another text. */
  String next(int length) {
    made++;
    String text = made + " " + "=".repeat(length);
    known.add(text);
    fresh.add(text);
    return text;
  }

  /** A text that is made once and never changes. */
  String fixed(String text) {
    known.add(text);
    return text;
  }

  /** What a program has written of a file until now. It may be lost. */
  String part(String text) {
    String part = text.substring(0, text.length() / 2);
    known.add(part);
    return part;
  }

  /** A person or a rank has worked there. */
  void changed(int place, Map<String, Item> before, Map<String, Item> after) {
    sentTo(place).keySet().removeAll(differences(before, after));
    Map<String, Integer> now = copies(after.values());
    copies(before.values())
        .forEach(
            (text, copies) -> {
              boolean isOwn = place <= EDITORS || Integer.valueOf(place).equals(wanted.get(text));
              // Of a text in two files each side may give up another one, and both have wanted it.
              if (isOwn && now.getOrDefault(text, 0) < copies) {
                wanted.remove(text);
              }
            });
    for (String text : now.keySet()) {
      // One that has come back is in git, or wherever it came from.
      if (fresh.remove(text)) {
        wanted.put(text, place);
      }
    }
  }

  /**
   * All is sent to a node, except these other paths.
   *
   * @param now those of the laptop
   * @param there all that it has
   * @return files that gpush has sent earlier and should have deleted, because the laptop has none
   */
  Set<String> sent(int node, Map<String, Item> now, Map<String, Item> there, Set<String> others) {
    Map<String, Item> known = sentTo(node);
    var stay = new TreeSet<>(known.keySet());
    stay.removeIf(
        path ->
            now.containsKey(path)
                || others.contains(path)
                || !known.get(path).equals(there.get(path)));
    known.keySet().retainAll(others);
    known.putAll(now);
    return stay;
  }

  private Map<String, Item> sentTo(int node) {
    return sent.computeIfAbsent(node, _ -> new HashMap<>());
  }

  /** A disk is gone, and with it what was only there. */
  void emptied(int node, Map<Integer, Set<String>> places) {
    sent.remove(node);
    wanted.entrySet().removeIf(each -> !isKept(each.getKey(), each.getValue(), places));
  }

  /**
   * Nothing else is remembered, so that long tests stay fast.
   *
   * @param trees of all places
   * @param other texts that may come back
   */
  void retain(Map<Integer, Map<String, Item>> trees, Set<String> other) {
    var found = new HashMap<String, Set<Integer>>();
    trees.forEach(
        (place, tree) ->
            texts(tree.values())
                .forEach(text -> found.computeIfAbsent(text, _ -> new TreeSet<>()).add(place)));
    known.removeIf(
        text -> !found.containsKey(text) && !other.contains(text) && !fresh.contains(text));
    known.add("");
    wanted.keySet().retainAll(found.keySet());
    // What its user has given up is that of the first who still has it.
    wanted.replaceAll((text, _) -> found.get(text).iterator().next());
  }

  /**
   * Versions that are not where they must be.
   *
   * @param places by their numbers: the texts that are there, and in the trash of the place
   */
  List<String> lost(Map<Integer, Set<String>> places) {
    var lost = new ArrayList<String>();
    wanted.forEach(
        (text, place) -> {
          if (!isKept(text, place, places)) {
            lost.add(text.substring(0, text.indexOf(' ')) + " of " + place);
          }
        });
    return lost;
  }

  private static boolean isKept(String text, int place, Map<Integer, Set<String>> places) {
    return places.get(LAPTOP).contains(text)
        || places.get(EDITORS).contains(text)
        || places.get(place).contains(text);
  }

  /** Files that are none of these versions. */
  List<String> unknown(Map<String, Item> tree) {
    var unknown = new ArrayList<String>();
    tree.forEach(
        (path, item) -> {
          if (!item.isLink() && !known.contains(item.text())) {
            unknown.add(path);
          }
        });
    return unknown;
  }

  /** The paths at which two trees differ. */
  static Set<String> differences(Map<String, Item> before, Map<String, Item> after) {
    var paths = new TreeSet<>(before.keySet());
    paths.addAll(after.keySet());
    paths.removeIf(path -> Objects.equals(before.get(path), after.get(path)));
    return paths;
  }

  /** The same in words, each with a space before it. */
  static String changes(Map<String, Item> before, Map<String, Item> after) {
    var changes = new StringBuilder();
    for (String path : differences(before, after)) {
      changes.append(" " + path + ": " + before.get(path) + " ⇒ " + after.get(path) + ";");
    }
    return changes.toString();
  }

  static Set<String> texts(Collection<Item> items) {
    return new HashSet<>(copies(items).keySet());
  }

  /** The texts, and how many files have each. */
  private static Map<String, Integer> copies(Collection<Item> items) {
    var copies = new HashMap<String, Integer>();
    for (Item item : items) {
      if (!item.isLink()) {
        copies.merge(item.text(), 1, Integer::sum);
      }
    }
    return copies;
  }

  /** What is below a folder, without a {@code .git} at the top. */
  static Map<String, Item> items(Path root) throws IOException {
    var found = new TreeMap<String, Item>();
    if (!Files.isDirectory(root)) {
      return found;
    }
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return folder.equals(root.resolve(".git"))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Item item =
                attributes.isSymbolicLink()
                    ? new Item(Files.readSymbolicLink(file).toString(), false, true)
                    : new Item(Files.readString(file), isExecutable(file), false);
            found.put(root.relativize(file).toString(), item);
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }

  private static boolean isExecutable(Path file) throws IOException {
    return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OWNER_EXECUTE);
  }
}
