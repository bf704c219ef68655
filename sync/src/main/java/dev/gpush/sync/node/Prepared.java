package dev.gpush.sync.node;

import dev.gpush.core.failure.SyncFailure.Conflict;
import java.util.List;
import java.util.Set;

/**
 * A node's answer to PREPARE. Only {@link Ready} may be committed; after all others nothing
 * changed.
 */
public sealed interface Prepared {
  record Ready() implements Prepared {}

  record Blocked(List<Conflict> conflicts) implements Prepared {
    public Blocked {
      conflicts = List.copyOf(conflicts);
    }
  }

  /** Contents that the node was expected to have. */
  record Missing(Set<String> hashes) implements Prepared {
    public Missing {
      hashes = Set.copyOf(hashes);
    }
  }

  /** It does not hold the expected generation: it must be asked again. */
  record Moved() implements Prepared {}

  /** no-space, read-only, denied, limit or failed. */
  record CannotWrite(String code, String path, String detail) implements Prepared {}
}
