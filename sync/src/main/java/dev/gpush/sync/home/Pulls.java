package dev.gpush.sync.home;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.sync.node.Blobs;
import dev.gpush.sync.node.NodeConversation;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Asks a node for paths before it has answered about those before: over a slow link, a checkout of
 * many files would take a round trip for each.
 */
public final class Pulls {
  /** A node sends no more ahead than its window, so these are names only. */
  private static final int MOST_ASKED = 64;

  private final NodeConversation node;
  private final Deque<String> wanted = new ArrayDeque<>();
  private final Deque<String> asked = new ArrayDeque<>();

  public Pulls(NodeConversation node) {
    this.node = node;
  }

  /** These come next after those that were named before. The caller may leave some out. */
  public void expect(Stream<String> paths) {
    paths.forEach(wanted::add);
  }

  /** What a path on the node is; a file follows. */
  public Json next(String path) throws IOException {
    if (!asked.contains(path) && !wanted.contains(path)) {
      wanted.addFirst(path);
    }
    while (true) {
      ask();
      if (asked.remove().equals(path)) {
        return node.pulled();
      }
      skip();
    }
  }

  /** Nothing more is wanted: the answers that are on their way are dropped. */
  public void end() throws IOException {
    wanted.clear();
    while (asked.poll() != null) {
      skip();
    }
    node.endPull();
  }

  private void ask() throws IOException {
    if (wanted.isEmpty() || asked.size() > MOST_ASKED / 2) {
      return;
    }
    List<String> next = new ArrayList<>();
    while (!wanted.isEmpty() && asked.size() < MOST_ASKED) {
      next.add(wanted.peek());
      asked.add(wanted.remove());
    }
    node.pull(next);
  }

  private void skip() throws IOException {
    try {
      if (node.pulled().text("kind").equals(Optional.of("file"))) {
        Blobs.skip(node); // The next answer comes after it.
      }
    } catch (GpushException refused) {
      // The node could not read what is not wanted.
    }
  }
}
