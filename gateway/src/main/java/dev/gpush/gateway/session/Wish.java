package dev.gpush.gateway.session;

import dev.gpush.core.backend.GpuRequest;
import dev.gpush.core.failure.SessionFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an {@code up} comes to after flags, files and habits.
 *
 * @param notes what to tell before it is done ("as last time here: 2 nodes")
 */
record Wish(
    Optional<String> backend,
    int nodes,
    GpuRequest gpus,
    Optional<Duration> hardEnd,
    Duration idle,
    Optional<String> python,
    List<String> notes) {
  Wish {
    notes = List.copyOf(notes);
  }

  /** "2 × 8 = 16 H100", "2 CPU nodes". */
  String words() {
    if (gpus.isNone()) {
      return nodes + (nodes == 1 ? " CPU node" : " CPU nodes");
    }
    return nodes
        + " × "
        + gpus.count()
        + " = "
        + nodes * gpus.count()
        + " "
        + gpus.model().orElse("GPU");
  }

  /** What a session has that this does not ask for, and the other way round. */
  List<SessionFailure.Difference> differences(LedgerEntry has) {
    var differences = new ArrayList<SessionFailure.Difference>();
    if (has.nodes() != nodes) {
      differences.add(
          new SessionFailure.Difference(
              "nodes", Integer.toString(has.nodes()), Integer.toString(nodes)));
    }
    if (!has.gpus().equals(gpus)) {
      differences.add(
          new SessionFailure.Difference("gpus", has.gpus().toString(), gpus.toString()));
    }
    backend
        .filter(wanted -> !wanted.equals(has.backend()))
        .ifPresent(
            wanted ->
                differences.add(new SessionFailure.Difference("backend", has.backend(), wanted)));
    return differences;
  }
}
