package dev.gpush.gateway.session.placement;

import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.text.Phrase;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The effective request of an {@code up}, from flags, files and the folder's last request.
 *
 * @param backends those that may be asked; empty: all of the configuration's
 * @param explicit which of nodes, gpus and backend were asked for by flags or the project's files,
 *     as opposed to habits and defaults: a session that is there differs by these only
 * @param notes what to tell before it is done ("as last time here: 2 nodes")
 * @param environment the client's variables, of which each backend takes some
 */
public record ResolvedUp(
    List<String> backends,
    LedgerEntry.Asked asked,
    LedgerEntry.Lease lease,
    Set<String> explicit,
    List<String> notes,
    Map<String, String> environment) {
  public ResolvedUp {
    backends = List.copyOf(backends);
    explicit = Set.copyOf(explicit);
    notes = List.copyOf(notes);
    environment = Map.copyOf(environment);
  }

  /** The request that an earlier gateway has made. */
  public static ResolvedUp of(LedgerEntry entry) {
    return new ResolvedUp(
        List.of(),
        entry.asked(),
        entry.lease(),
        Set.of(),
        List.of(),
        entry.reservation().inherit());
  }

  /** What {@code up} asks of a session that waits: its own request, but for what was explicit. */
  public ResolvedUp over(LedgerEntry waiting) {
    var merged =
        new LedgerEntry.Asked(
            explicit.contains("nodes") ? nodes() : waiting.asked().nodes(),
            explicit.contains("gpus") ? gpus() : waiting.gpus(),
            asked.python(),
            asked.natives().isEmpty() ? waiting.asked().natives() : asked.natives(),
            asked.attach().or(() -> waiting.asked().attach()));
    return new ResolvedUp(
        explicit.contains("backend") ? backends : waiting.places(),
        merged,
        lease,
        explicit,
        notes,
        environment);
  }

  /** The request for all nodes that a backend lends. */
  ResolvedUp borrowing(String backend, Loan loan, String name) {
    var all =
        new LedgerEntry.Asked(
            loan.nodes(), loan.gpus(), asked.python(), asked.natives(), Optional.of(name));
    return new ResolvedUp(List.of(backend), all, lease, Set.of("backend"), notes, environment);
  }

  public int nodes() {
    return asked.nodes();
  }

  public GpuRequest gpus() {
    return asked.gpus();
  }

  /** "2 × 8 = 16 H100", "2 CPU nodes". */
  String words() {
    GpuRequest gpus = gpus();
    if (gpus.isNone()) {
      return Phrase.counted(nodes(), "CPU node");
    }
    return nodes()
        + " × "
        + gpus.count()
        + " = "
        + nodes() * gpus.count()
        + " "
        + gpus.model().orElse("GPU");
  }

  /** What a session has and what is asked for instead. */
  public List<SessionFailure.Difference> differences(LedgerEntry has) {
    var differences = new ArrayList<SessionFailure.Difference>();
    if (explicit.contains("nodes") && has.asked().nodes() != nodes()) {
      differences.add(
          new SessionFailure.Difference(
              "nodes", Integer.toString(has.asked().nodes()), Integer.toString(nodes())));
    }
    boolean isSame = has.gpus().equals(gpus()) || (has.gpus().isNone() && gpus().isNone());
    if (explicit.contains("gpus") && !isSame) {
      differences.add(
          new SessionFailure.Difference("gpus", has.gpus().toString(), gpus().toString()));
    }
    List<String> places = has.places();
    if (explicit.contains("backend") && places.stream().noneMatch(backends::contains)) {
      differences.add(
          new SessionFailure.Difference(
              "backend", String.join(",", places), String.join(",", backends)));
    }
    if (asked.attach().isPresent() && !asked.attach().equals(has.asked().attach())) {
      differences.add(
          new SessionFailure.Difference(
              "attach", has.asked().attach().orElse("nodes of its own"), asked.attach().get()));
    }
    List<String> natives = asked.natives();
    if (!natives.isEmpty() && !natives.equals(has.asked().natives())) {
      differences.add(
          new SessionFailure.Difference(
              "sbatch options",
              has.asked().natives().isEmpty() ? "none" : String.join(" ", has.asked().natives()),
              String.join(" ", natives)));
    }
    return differences;
  }
}
