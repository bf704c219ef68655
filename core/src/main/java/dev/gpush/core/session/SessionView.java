package dev.gpush.core.session;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.text.Phrase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A session as it is now.
 *
 * @param isNew made by the request that returned it, as opposed to found
 */
public record SessionView(
    Identity identity, Status status, Place place, Lease lease, Work work, boolean isNew) {
  /**
   * Which session it is, and whose.
   *
   * @param id the session's own id (also the workspace folder's name); a name may be used again, an
   *     id never
   */
  public record Identity(String id, SessionName name, Path root, String owner, Instant created) {}

  /**
   * Its state.
   *
   * @param detail why queued, what is degraded, what leaked; empty when all is well
   * @param needsLogin what {@code gpush login} must be called with before it continues; empty: no
   *     login is needed
   * @param isStarting the request that makes it is not over, which may be READY before that
   * @param trace of its start, until now while it starts
   */
  public record Status(
      SessionState state,
      String detail,
      Optional<String> needsLogin,
      boolean isStarting,
      Trace trace) {}

  /**
   * What it has, or has asked for.
   *
   * @param gang what the backend's own tools call it
   * @param size how many nodes
   * @param gpus of each node
   * @param cost empty where the configuration has no price
   */
  public record Place(
      String backend, String gang, int size, GpuRequest gpus, Optional<Cost> cost) {}

  /**
   * In the currency of the configuration.
   *
   * @param hour of all nodes
   * @param held for how long node 0 is held
   */
  public record Cost(double hour, Duration held) {
    public double soFar() {
      return hour * held.toSeconds() / Duration.ofHours(1).toSeconds();
    }

    /** "12.40 so far". */
    public String text() {
      return String.format(Locale.ROOT, "%.2f so far", soFar());
    }
  }

  /**
   * The time that is left.
   *
   * @param hardEndLeft empty: no hard end
   * @param idleLeft empty while something keeps it busy
   * @param activity what keeps it busy, or since when it is idle, in words
   * @param warnings how long before either end its nodes warn, and a terminal here with them
   */
  public record Lease(
      Optional<Duration> hardEndLeft,
      Optional<Duration> idleLeft,
      String activity,
      List<Duration> warnings) {
    public Lease {
      warnings = List.copyOf(warnings);
    }

    public static Lease unknown() {
      return new Lease(Optional.empty(), Optional.empty(), "", List.of());
    }

    /** Whether an end is so near when this much is left. */
    public boolean isNear(Duration left) {
      return warnings.stream().anyMatch(length -> left.compareTo(length) <= 0);
    }
  }

  /**
   * What its nodes hold and do.
   *
   * @param generation the newest that a node holds, 0 when nothing was sent; empty while it is not
   *     known here
   * @param warm the interpreters that node 0 keeps for {@code run --warm}
   * @param sync where its files stand
   */
  public record Work(
      List<NodeView> nodes,
      Optional<Long> generation,
      int runsInProgress,
      String python,
      List<WarmInterpreter> warm,
      SyncView sync) {
    public Work {
      nodes = List.copyOf(nodes);
      warm = List.copyOf(warm);
    }

    public Work(
        List<NodeView> nodes, Optional<Long> generation, int runsInProgress, String python) {
      this(nodes, generation, runsInProgress, python, List.of(), SyncView.none());
    }
  }

  /**
   * Has done the imports of a program, or does them.
   *
   * @param bytes of memory
   */
  public record WarmInterpreter(String program, boolean isReady, long bytes) {}

  public SyncView sync() {
    return work.sync();
  }

  /** "2×8 H100", "2 cpu nodes". */
  public String shape() {
    return gpus().isNone()
        ? Phrase.counted(size(), "cpu node")
        : size() + "×" + gpus().count() + gpus().model().map(model -> " " + model).orElse(" GPU");
  }

  public SessionName name() {
    return identity.name();
  }

  public String id() {
    return identity.id();
  }

  public Path root() {
    return identity.root();
  }

  public Instant created() {
    return identity.created();
  }

  public SessionState state() {
    return status.state();
  }

  public String detail() {
    return status.detail();
  }

  public Trace trace() {
    return status.trace();
  }

  public String backend() {
    return place.backend();
  }

  public int size() {
    return place.size();
  }

  public GpuRequest gpus() {
    return place.gpus();
  }

  public Optional<Duration> hardEndLeft() {
    return lease.hardEndLeft();
  }

  public Optional<Duration> idleLeft() {
    return lease.idleLeft();
  }

  public List<NodeView> nodes() {
    return work.nodes();
  }

  public Optional<Long> generation() {
    return work.generation();
  }

  public int runsInProgress() {
    return work.runsInProgress();
  }
}
