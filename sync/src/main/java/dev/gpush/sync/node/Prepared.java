package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Set;

/**
 * A node's answer to PREPARE. Only {@link Ready} may be committed; after all others nothing
 * changed.
 */
public sealed interface Prepared {
  record Ready() implements Prepared {}

  /**
   * A path at which the node will not do what it should.
   *
   * @param why changed, foreign, type or parent
   * @param seconds when it was changed, by the node's clock
   */
  record Obstacle(int node, String path, String why, long seconds) {
    private static Obstacle parse(int node, List<Json> parts) {
      return new Obstacle(
          node,
          parts.get(0).asText().orElse(""),
          parts.get(1).asText().orElse(""),
          NodeHolds.Deviation.seconds(parts.get(2)));
    }
  }

  record Blocked(List<Obstacle> obstacles) implements Prepared {
    public Blocked {
      obstacles = List.copyOf(obstacles);
    }

    /** What another machine has said: items of other lengths are left out. */
    static Blocked parse(int node, List<Json> conflicts) {
      return new Blocked(
          conflicts.stream()
              .map(Json::items)
              .filter(parts -> parts.size() == 3)
              .map(parts -> Obstacle.parse(node, parts))
              .toList());
    }
  }

  /** Contents that the node was expected to have. */
  record Missing(Set<String> hashes) implements Prepared {
    public Missing {
      hashes = Set.copyOf(hashes);
    }
  }

  /**
   * It does not hold the expected generation: it must be asked again.
   *
   * @param path that is not as expected; empty when it is not known
   */
  record Moved(String path) implements Prepared {}

  /** no-space, read-only, denied, limit or failed. */
  record CannotWrite(String code, String path, String detail) implements Prepared {}
}
