package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A node's answer to PREPARE. Only {@link Ready} may be committed; after all others nothing
 * changed.
 */
public sealed interface Prepared {
  record Ready() implements Prepared {}

  /**
   * Reads PREPARED.
   *
   * @param where a path is there
   */
  static Prepared parse(int node, Json answer, UnaryOperator<String> where) {
    if (answer.flag("ok")) {
      return new Ready();
    }
    if (answer.text("code").isPresent()) {
      Json.Obj facts = answer.object("facts");
      return new CannotWrite(
          answer.text("code").orElseThrow(),
          where.apply(facts.text("path").orElse("")),
          facts.text("detail").orElse(""));
    }
    return answer.items("missing").isEmpty()
        ? Blocked.parse(node, answer.items("conflicts"))
        : new Missing(new HashSet<>(answer.texts("missing")));
  }

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
    private static Blocked parse(int node, List<Json> conflicts) {
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
