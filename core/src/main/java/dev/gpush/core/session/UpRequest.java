package dev.gpush.core.session;

import dev.gpush.core.gang.GpuRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code up} asks for. Empty fields come from the configuration, then from the folder's last
 * request.
 *
 * @param name -s NAME or $GPUSH_SESSION; empty: the folder's session, or the first free of devbox,
 *     devbox2 …
 * @param existing what to do with an existing session
 */
public record UpRequest(
    Optional<SessionName> name, Origin origin, Wanted wanted, Lease lease, Existing existing) {
  /**
   * Who asks.
   *
   * @param folder the client's current folder
   * @param environment the client's variables (a local gang takes PATH and the like from here)
   */
  public record Origin(Path folder, Map<String, String> environment) {
    public Origin {
      environment = Map.copyOf(environment);
    }
  }

  /**
   * The nodes and what they have.
   *
   * @param backend only there
   * @param python for the session's runs
   * @param natives options for Slurm's sbatch unchanged; other backends do not use them
   * @param attach the running pods to borrow, such as {@code job/train}
   */
  public record Wanted(
      Optional<String> backend,
      Optional<Integer> nodes,
      Optional<GpuRequest> gpus,
      Optional<String> python,
      List<String> natives,
      Optional<String> attach) {
    public Wanted {
      natives = List.copyOf(natives);
    }

    /** Everything as configured. */
    public static Wanted asConfigured() {
      return new Wanted(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          Optional.empty());
    }

    public Wanted on(Optional<String> place) {
      return new Wanted(place, nodes, gpus, python, natives, attach);
    }

    public Wanted size(Optional<Integer> count, Optional<GpuRequest> each) {
      return new Wanted(backend, count, each, python, natives, attach);
    }

    public Wanted python(Optional<String> other) {
      return new Wanted(backend, nodes, gpus, other, natives, attach);
    }

    public Wanted natives(List<String> options) {
      return new Wanted(backend, nodes, gpus, python, options, attach);
    }

    public Wanted attach(Optional<String> what) {
      return new Wanted(backend, nodes, gpus, python, natives, what);
    }
  }

  /**
   * How long.
   *
   * @param hardEnd from now
   */
  public record Lease(Optional<Duration> hardEnd, Optional<Duration> idle) {
    public static Lease asConfigured() {
      return new Lease(Optional.empty(), Optional.empty());
    }
  }

  /** What to do with an existing session. */
  public enum Existing {
    /** It must match the request. */
    MUST_MATCH,

    /** It is used as it is ({@code run}). */
    TAKE_ANY,

    /** One that differs is given back, then the new one is made. */
    REPLACE,

    /** As REPLACE, with its runs and what exists only on its nodes. */
    REPLACE_AND_DISCARD;

    public boolean mayBeReplaced() {
      return this == REPLACE || this == REPLACE_AND_DISCARD;
    }
  }

  /** Everything as configured, for the session of this folder. */
  public static UpRequest of(Path folder, Map<String, String> environment) {
    return new UpRequest(
        Optional.empty(),
        new Origin(folder, environment),
        Wanted.asConfigured(),
        Lease.asConfigured(),
        Existing.MUST_MATCH);
  }

  public UpRequest named(Optional<SessionName> other) {
    return new UpRequest(other, origin, wanted, lease, existing);
  }

  public UpRequest wanting(Wanted other) {
    return new UpRequest(name, origin, other, lease, existing);
  }

  public UpRequest leased(Lease other) {
    return new UpRequest(name, origin, wanted, other, existing);
  }

  public UpRequest onExisting(Existing other) {
    return new UpRequest(name, origin, wanted, lease, other);
  }
}
