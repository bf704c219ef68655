package dev.gpush.sync;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What was at each path before a push, on the laptop and on the nodes, and which of it may be gone
 * after it. Contents are never the same twice, so what a text is at a path says who put it there.
 */
final class Sides {
  /**
   * Texts that were at a path of the laptop when something was pushed: gpush may have sent them.
   */
  private final Map<String, Set<String>> sent = new HashMap<>();

  /** Texts that were at a path of the editors' node after a push: both sides have had them. */
  private final Map<String, Set<String>> arrived = new HashMap<>();

  private Map<String, String> here = Map.of();
  private List<Map<String, String>> there = List.of();

  /** A push is about to begin. */
  void before(Path laptop, List<Path> nodes) throws IOException {
    here = contents(laptop);
    var trees = new ArrayList<Map<String, String>>();
    for (Path node : nodes) {
      trees.add(contents(node));
    }
    there = trees;
    remember(sent, here);
  }

  /**
   * It is over, however it ended.
   *
   * @param kept for each node the texts that its user finds again: there, here, and in the trashes
   * @return what is lost
   */
  List<String> lost(
      Map<String, String> laptop, Map<String, String> editorsNode, List<Set<String>> kept) {
    var lost = new ArrayList<String>();
    Map<String, String> edited = there.getFirst();
    here.forEach(
        (path, text) -> {
          boolean isEdited = edited.containsKey(path) && !edited.get(path).equals(text);
          if (!kept.getFirst().contains(text) && !(isEdited && has(arrived, path, text))) {
            lost.add("of the laptop: " + path + " " + name(text));
          }
        });
    for (int node = 0; node < there.size(); node++) {
      int number = node;
      there
          .get(node)
          .forEach(
              (path, text) -> {
                boolean isSame = text.equals(here.get(path)) && text.equals(edited.get(path));
                boolean mayGo = has(sent, path, text) && !isSame;
                if (!kept.get(number).contains(text) && !mayGo) {
                  lost.add("of node " + number + ": " + path + " " + name(text));
                }
              });
    }
    remember(sent, laptop);
    remember(arrived, editorsNode);
    return lost;
  }

  /** All sides are equal: nothing else is remembered, so that long tests stay fast. */
  void equal(Map<String, String> all) {
    sent.clear();
    arrived.clear();
    remember(sent, all);
    remember(arrived, all);
  }

  private static void remember(Map<String, Set<String>> texts, Map<String, String> tree) {
    tree.forEach((path, text) -> texts.computeIfAbsent(path, _ -> new HashSet<>()).add(text));
  }

  private static boolean has(Map<String, Set<String>> texts, String path, String text) {
    return texts.getOrDefault(path, Set.of()).contains(text);
  }

  /** Its beginning, which is its number. */
  static String name(String text) {
    return text.substring(
        0, Math.min(text.length(), text.indexOf(' ') < 0 ? 20 : text.indexOf(' ')));
  }

  /** Path → text of the files below a folder; links are not followed. */
  static Map<String, String> contents(Path root) throws IOException {
    var found = new HashMap<String, String>();
    if (!Files.isDirectory(root)) {
      return found;
    }
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.toList()) {
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          found.put(root.relativize(file).toString(), Files.readString(file));
        }
      }
    }
    return found;
  }

  static void empty(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      try (Stream<Path> all = Files.list(folder)) {
        for (Path each : all.toList()) {
          new WorkFolder(folder).delete(each.getFileName().toString());
        }
      }
    }
  }
}
