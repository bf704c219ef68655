package dev.gpush.testkit.fake;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.task.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A simulated cluster: a number of GPUs, their holders, and until when. Several {@link
 * FakeBackend}s may use one site, as several gateways do. Thread-safe.
 */
public final class FakeSite {
  private final Path folder;
  private final Clock clock;
  private final FakeTrouble trouble;
  private final Object lock = new Object();
  // guarded by lock: free, holdings, queue, granted, starting
  private final TreeSet<Integer> free = new TreeSet<>();
  private final Map<GangId, Holding> holdings = new LinkedHashMap<>();
  private final Map<GangId, Waiting> queue = new LinkedHashMap<>();
  private final Deque<Granted> granted = new ArrayDeque<>();
  private final Set<GangId> starting = new HashSet<>(); // also those that are granted
  private final int size;
  private volatile boolean isListed = true;

  /**
   * A site with nothing reserved.
   *
   * @param folder where nodes have their workspaces
   */
  public FakeSite(Path folder, int gpus, Clock clock, FakeTrouble trouble) {
    this.folder = folder;
    this.size = gpus;
    this.clock = clock;
    this.trouble = trouble;
    for (int gpu = 0; gpu < gpus; gpu++) {
      free.add(gpu);
    }
  }

  /** A gang that is held: {@code dead} are its nodes that were killed. */
  record Holding(
      Gang gang, GangRequest request, LeaseTerms terms, long since, TreeSet<Integer> dead) {}

  /** A request in the queue: granted by the site itself, with or without its gateway. */
  record Waiting(String backend, GangRequest request, Consumer<Gang> starting) {}

  /** A gang that was granted from the queue, and whose nodes are not up yet. */
  private record Granted(Gang gang, Consumer<Gang> starting) {}

  /** Works under the lock, and brings up without it what was granted by that. */
  private <T> T locked(Supplier<T> work) {
    T result;
    synchronized (lock) {
      result = work.get();
    }
    for (Optional<Granted> next = nextGranted(); next.isPresent(); next = nextGranted()) {
      Gang gang = next.get().gang();
      try {
        next.get().starting().accept(gang);
      } finally {
        synchronized (lock) {
          starting.remove(gang.id());
          lock.notifyAll();
        }
      }
    }
    return result;
  }

  private Optional<Granted> nextGranted() {
    synchronized (lock) {
      return Optional.ofNullable(granted.poll());
    }
  }

  /** Whether gangs are discovered: some sites rewrite what gpush writes on its jobs. */
  public void list(boolean areListed) {
    isListed = areListed;
  }

  boolean isListed() {
    return isListed;
  }

  /** The requests that wait, in their order. */
  public List<GangRequest> waiting() {
    synchronized (lock) {
      return queue.values().stream().map(Waiting::request).toList();
    }
  }

  /** Puts a request into the queue unless it is known; {@code starting} brings its nodes up. */
  void submit(String backend, GangRequest request, Consumer<Gang> starting) {
    locked(
        () -> {
          endLeases();
          if (!holdings.containsKey(request.gang())) {
            queue.putIfAbsent(request.gang(), new Waiting(backend, request, starting));
          }
          grant();
          return true;
        });
  }

  /** The place of a request that waits, in words: "1 of 2". */
  Optional<String> place(GangId gang) {
    synchronized (lock) {
      int at = List.copyOf(queue.keySet()).indexOf(gang);
      return at < 0 ? Optional.empty() : Optional.of((at + 1) + " of " + queue.size());
    }
  }

  /** The sessions before it, while it waits. */
  Optional<JobsAhead> ahead(GangId gang) {
    synchronized (lock) {
      int at = List.copyOf(queue.keySet()).indexOf(gang);
      List<String> who =
          queue.values().stream()
              .limit(Math.max(0, at))
              .map(each -> each.request().requester().session())
              .toList();
      return at < 0
          ? Optional.empty()
          : Optional.of(new JobsAhead("the pretended queue", at, who, false));
    }
  }

  /** Waits until it is granted and its nodes are up; empty when it is no longer in the queue. */
  Optional<Gang> await(GangId gang) throws InterruptedException {
    synchronized (lock) {
      while (queue.containsKey(gang) || starting.contains(gang)) {
        lock.wait();
      }
      return Optional.ofNullable(holdings.get(gang)).map(Holding::gang);
    }
  }

  // holds lock
  private void grant() {
    for (Waiting next : List.copyOf(queue.values())) {
      if (free.size() >= wanted(next.request())) {
        queue.remove(next.request().gang());
        Optional<Gang> gang = takeNow(next.backend(), next.request());
        gang.ifPresent(
            taken -> {
              granted.add(new Granted(taken, next.starting()));
              starting.add(taken.id());
            });
      }
    }
    lock.notifyAll();
  }

  FakeTrouble trouble() {
    return trouble;
  }

  int size() {
    return size;
  }

  int free() {
    return locked(
        () -> {
          endLeases();
          return free.size();
        });
  }

  /** Once all their nodes are up: a gang is not released while it starts. */
  List<Holding> holdings() {
    locked(
        () -> {
          endLeases();
          return true;
        });
    boolean interrupted = false;
    synchronized (lock) {
      while (!starting.isEmpty()) {
        try {
          lock.wait();
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      return List.copyOf(holdings.values());
    }
  }

  Optional<Holding> find(GangId gang) {
    return holdings().stream().filter(holding -> holding.gang().id().equals(gang)).findFirst();
  }

  /** The gang that this id has or gets now; empty when too little is free. */
  Optional<Gang> take(String backend, GangRequest request) {
    return locked(
        () -> {
          endLeases();
          return takeNow(backend, request);
        });
  }

  // holds lock
  private Optional<Gang> takeNow(String backend, GangRequest request) {
    Holding has = holdings.get(request.gang());
    if (has != null) {
      return Optional.of(has.gang());
    }
    if (free.size() < wanted(request)) {
      return Optional.empty();
    }
    var nodes = new ArrayList<NodeInfo>();
    for (int node = 0; node < request.nodes(); node++) {
      nodes.add(node(request, node));
    }
    var gang = new Gang(request.gang(), backend, nodes, "pretended");
    var holding = new Holding(gang, request, request.lease(), clock.nanos(), new TreeSet<>());
    holdings.put(gang.id(), holding);
    return Optional.of(gang);
  }

  static int wanted(GangRequest request) {
    return request.nodes() * request.gpus().count();
  }

  private NodeInfo node(GangRequest request, int index) {
    var slots = new ArrayList<String>();
    for (int i = 0; i < request.gpus().count(); i++) {
      slots.add(Integer.toString(free.removeFirst()));
    }
    Path workspace =
        folder
            .resolve(request.gang().text())
            .resolve(Integer.toString(index))
            .resolve(request.requester().project());
    boolean hasGpus = !slots.isEmpty();
    return new NodeInfo(
        index,
        "fake-" + index,
        "127.0.0.1",
        hasGpus ? slots : List.of("0"),
        hasGpus ? request.gpus().model().orElse("FAKE") : "",
        2,
        workspace.toString());
  }

  void renew(GangId gang, LeaseTerms terms) {
    synchronized (lock) {
      holdings.computeIfPresent(
          gang,
          (_, old) ->
              new Holding(
                  old.gang(), old.request(), renewed(old, terms), clock.nanos(), old.dead()));
    }
  }

  private LeaseTerms renewed(Holding old, LeaseTerms terms) {
    Duration age = Duration.ofNanos(clock.nanos() - old.since());
    return terms.keepsHardEnd()
        ? new LeaseTerms(old.terms().hardEnd().map(end -> end.minus(age)), terms.idle())
        : terms;
  }

  /** Frees the GPUs; idempotent. */
  void drop(GangId gang) {
    locked(
        () -> {
          dropNow(gang);
          return true;
        });
  }

  // holds lock
  private void dropNow(GangId gang) {
    queue.remove(gang);
    Holding holding = holdings.remove(gang);
    if (holding == null) {
      lock.notifyAll();
      return;
    }
    for (NodeInfo node : holding.gang().nodes()) {
      if (node.hasGpus()) {
        node.slots().forEach(slot -> free.add(Integer.valueOf(slot)));
      }
    }
    grant();
  }

  /** Takes a request out of the queue, as an administrator would. */
  public void cancel(GangId gang) {
    drop(gang);
  }

  /** Ends a node as a power cut would. */
  public void kill(GangId gang, int node) {
    synchronized (lock) {
      Holding holding = holdings.get(gang);
      if (holding != null) {
        holding.dead().add(node);
      }
    }
  }

  // holds lock
  private void endLeases() {
    var over = new ArrayList<GangId>();
    for (Holding holding : holdings.values()) {
      Duration age = Duration.ofNanos(clock.nanos() - holding.since());
      boolean ended = holding.terms().hardEnd().map(end -> age.compareTo(end) >= 0).orElse(false);
      if (ended || age.compareTo(holding.terms().idle()) >= 0) {
        over.add(holding.gang().id());
      }
    }
    over.forEach(this::dropNow);
  }
}
