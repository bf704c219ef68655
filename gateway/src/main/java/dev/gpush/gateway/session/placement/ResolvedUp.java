package dev.gpush.gateway.session.placement;

import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.Loan;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The effective request of an {@code up}, from flags, files and the folder's last request.
 *
 * @param backends those that may be asked; empty: all of the configuration's
 * @param asked which of nodes, gpus and backend were asked for by flags or the project's files, and
 *     not by the last request or defaults: an existing session is compared only with these
 * @param attach the running pods to borrow
 * @param notes messages before it is done ("as last time here: 2 nodes")
 */
public record ResolvedUp(
    List<String> backends,
    int nodes,
    GpuRequest gpus,
    Optional<Duration> hardEnd,
    Duration idle,
    Optional<String> python,
    Set<String> asked,
    Optional<String> attach,
    List<String> notes) {
  public ResolvedUp {
    backends = List.copyOf(backends);
    asked = Set.copyOf(asked);
    notes = List.copyOf(notes);
  }

  /** The request that an earlier gateway has made. */
  public static ResolvedUp of(LedgerEntry entry) {
    return new ResolvedUp(
        List.of(),
        entry.nodes(),
        entry.gpus(),
        entry.hardEnd(),
        entry.idle(),
        entry.python(),
        Set.of(),
        entry.attach(),
        List.of());
  }

  /** The request for all nodes that a backend lends. */
  ResolvedUp borrowing(String backend, Loan loan, String name) {
    return new ResolvedUp(
        List.of(backend),
        loan.nodes(),
        loan.gpus(),
        hardEnd,
        idle,
        python,
        Set.of("backend"),
        Optional.of(name),
        notes);
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

  /** What a session has and what is asked for instead. */
  public List<SessionFailure.Difference> differences(LedgerEntry has, List<String> natives) {
    var differences = new ArrayList<SessionFailure.Difference>();
    if (asked.contains("nodes") && has.nodes() != nodes) {
      differences.add(
          new SessionFailure.Difference(
              "nodes", Integer.toString(has.nodes()), Integer.toString(nodes)));
    }
    boolean isSame = has.gpus().equals(gpus) || (has.gpus().isNone() && gpus.isNone());
    if (asked.contains("gpus") && !isSame) {
      differences.add(
          new SessionFailure.Difference("gpus", has.gpus().toString(), gpus.toString()));
    }
    List<String> places = has.places();
    if (asked.contains("backend") && places.stream().noneMatch(backends::contains)) {
      differences.add(
          new SessionFailure.Difference(
              "backend", String.join(",", places), String.join(",", backends)));
    }
    if (attach.isPresent() && !attach.equals(has.attach())) {
      differences.add(
          new SessionFailure.Difference(
              "attach", has.attach().orElse("nodes of its own"), attach.get()));
    }
    if (!natives.isEmpty() && !natives.equals(has.natives())) {
      differences.add(
          new SessionFailure.Difference(
              "sbatch options",
              has.natives().isEmpty() ? "none" : String.join(" ", has.natives()),
              String.join(" ", natives)));
    }
    return differences;
  }
}
