package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.SessionFiles;
import dev.gpush.gateway.session.lifecycle.PendingReleases;
import dev.gpush.gateway.session.lifecycle.PendingRequests;
import dev.gpush.gateway.session.lifecycle.QueuedIdleTime;
import dev.gpush.gateway.session.lifecycle.SessionEndings;
import dev.gpush.gateway.session.lifecycle.UnreportedFailures;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionRegistry;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.gateway.session.live.TurnQueue;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a new gateway does with the ledger of the one before it: adopts what is whole, keeps waiting
 * in its queues, cleans up the rest, and never submits a request again. After kill -9 at any point,
 * each session becomes ready, released or a leak that {@code ps} and {@code doctor} show.
 */
final class Recovery {
  private static final System.Logger LOG = System.getLogger("gpush.session");

  private static final Duration RELEASE_LIMIT = Duration.ofSeconds(60);

  /** Shown until its backend reports more. */
  private static final String TAKEN_UP = "checking whether its request still exists";

  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

  private final GatewayIdentity identity;
  private final Ledger ledger;
  private final Backends backends;
  private final SessionRegistry registry;
  private final SessionFiles files;
  private final SessionLinks links;
  private final PendingReleases releases;
  private final PendingRequests pending;
  private final QueuedIdleTime idleTime;
  private final UnreportedFailures ended;
  private final Duration settle;
  private final Duration pause;
  private final Tasks tasks;
  private final Runnable changed;

  Recovery(
      GatewayIdentity identity,
      Ledger ledger,
      Backends backends,
      SessionRegistry registry,
      SessionFiles files,
      SessionLinks links,
      PendingReleases releases,
      PendingRequests pending,
      QueuedIdleTime idleTime,
      UnreportedFailures ended,
      SessionTiming timing,
      Tasks tasks,
      Runnable changed) {
    this.identity = identity;
    this.ledger = ledger;
    this.backends = backends;
    this.registry = registry;
    this.files = files;
    this.links = links;
    this.releases = releases;
    this.pending = pending;
    this.idleTime = idleTime;
    this.ended = ended;
    this.settle = timing.settle();
    this.pause = timing.observePause();
    this.tasks = tasks;
    this.changed = changed;
  }

  /**
   * Registers every session that has not ended at once, and recovers each on its own thread. Its
   * turn is taken before it is registered, so commands wait until it is recovered.
   */
  void start() {
    for (LedgerEntry entry : ledger.load()) {
      if (entry.state().isOver()) {
        files.forget(entry);
        if (UnreportedFailures.isOne(entry)) {
          ended.add(entry);
        }
        continue;
      }
      Optional<Backend> backend = backends.named(entry.backend());
      if (backend.isEmpty() || isOfAnotherMachine(entry, backend.get())) {
        // The doctor names it. The next gateway that has its backend takes it over as it was left.
        continue;
      }
      SessionRegistry.Taken taken =
          registry.adopt(entry, entry.reservation().first().at(backend.get()), ledger);
      boolean isStarted =
          tasks.start(
              "recover-" + taken.session().name(), () -> recover(taken.session(), taken.turn()));
      if (!isStarted) {
        taken.turn().close();
      }
    }
  }

  /**
   * A home that several machines share has one ledger for all. Gangs that are local to another
   * machine do not run here, but are not gone.
   */
  private boolean isOfAnotherMachine(LedgerEntry entry, Backend backend) {
    return backend.kind().equals("local")
        && entry.keeper().holder().machine().isPresent()
        && !entry.keeper().holder().machine().equals(identity.holder().machine());
  }

  private void recover(LiveSession session, TurnQueue.Turn first) {
    try {
      boolean isSettled = attempt(session, first);
      while (!isSettled) {
        Thread.sleep(pause);
        isSettled = attempt(session, session.begin("recovery", Talk.silent()));
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      if (session.isOver()) {
        registry.remove(session);
      } else {
        changed.run();
        giveOthersBack(session);
      }
    }
  }

  /** The turn ends here, or passes to a request that waits. */
  private boolean attempt(LiveSession session, TurnQueue.Turn turn) {
    boolean isHandedOn = false;
    try {
      if (session.isOver() || session.isClosed()) {
        return true;
      }
      boolean isSettled = attempt(session);
      if (isSettled && session.isWaiting() && !Thread.currentThread().isInterrupted()) {
        isHandedOn = true;
        pending.resume(session, turn);
      }
      return isSettled;
    } finally {
      if (!isHandedOn) {
        turn.close();
      }
    }
  }

  /** For a session that has its gang, releases what other backends may hold for it. */
  private void giveOthersBack(LiveSession session) {
    boolean isAlive = isHeld(session) || session.isWaiting();
    if (isAlive && !Thread.currentThread().isInterrupted()) {
      releases.sweepSoon(session, () -> {});
    }
  }

  /**
   * False when a gang that was granted could not be taken over: whatever the reason is, "cannot
   * tell" is never "gone", and as a leak it would be released by the next gateway together with its
   * runs.
   */
  private boolean attempt(LiveSession session) {
    String why = "recovery failed";
    boolean isSettled = false;
    try {
      settle(session);
      isSettled = true;
      return true;
    } catch (GpushException failed) {
      if (isHeld(session) && !Thread.currentThread().isInterrupted()) {
        return false;
      }
      why = SessionEndings.why(failed);
      return true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return true;
    } finally {
      // A gateway that ends leaves the entry unchanged for the next one.
      if (!isSettled && !isHeld(session) && !Thread.currentThread().isInterrupted()) {
        session.leak(why);
      }
    }
  }

  private static boolean isHeld(LiveSession session) {
    return switch (session.entry().state()) {
      case GRANTED, READY, DEGRADED -> true;
      case ASKED, QUEUED, RELEASING, RELEASED, LEAKED -> false;
    };
  }

  private void settle(LiveSession session) throws InterruptedException {
    switch (session.entry().state()) {
      case ASKED, QUEUED -> adoptOrForget(session);
      case GRANTED, READY, DEGRADED -> takeOver(session);
      case RELEASING, LEAKED -> finishRelease(session);
      case RELEASED -> {}
    }
  }

  /** The reply was lost with the gateway: the gang is whole, or still queued, or it is released. */
  private void adoptOrForget(LiveSession session) throws InterruptedException {
    if (!session.entry().others().isEmpty()) {
      adoptOne(session);
      return;
    }
    Optional<Discovered> found;
    try {
      found = discover(session);
      if (found.isEmpty() || !found.get().complete()) {
        Thread.sleep(settle);
        found = discover(session);
      }
    } catch (GpushException unknown) {
      requireQueue(session.backend(), unknown);
      session.waits(FailureText.clause(unknown.failure()));
      return;
    }
    if (found.isEmpty() && mayBeInQueue(session.backend(), session.gangToRelease())) {
      session.waits(TAKEN_UP);
      return;
    }
    if (found.isEmpty()) {
      sweep(session);
      forget(session);
      return;
    }
    if (isInQueue(session.backend(), found.get())) {
      session.waits(TAKEN_UP);
      return;
    }
    if (!found.get().complete()) {
      session.backend().release(found.get().gang(), RELEASE_LIMIT);
      session.forget();
      return;
    }
    session.move(session.entry().granted(found.get().gang()));
    takeOver(session);
  }

  /** A queued request whose backend cannot be reached is kept, and resumed later. */
  private static void requireQueue(Backend backend, GpushException unknown) {
    if (!backend.capabilities().hasQueue()) {
      throw unknown;
    }
  }

  /**
   * The user is told about a request that waited in a queue, but not about one that was never
   * accepted.
   */
  private void forget(LiveSession session) {
    boolean hasWaited = session.entry().state() == SessionState.QUEUED;
    session.forget();
    if (hasWaited) {
      ended.add(session, "it left the queue, and no nodes were granted");
    }
  }

  /**
   * Removes folders that were made before the gang. There is no gang, so a failure is not a leak:
   * unclaimed agents end by themselves.
   */
  private static void sweep(LiveSession session) throws InterruptedException {
    try {
      session.backend().release(session.gangToRelease(), RELEASE_LIMIT);
    } catch (GpushException failed) {
      LOG.log(
          System.Logger.Level.INFO,
          "nothing to sweep of an intent, gang={0} why={1}",
          session.entry().gang(),
          SessionEndings.why(failed));
    }
  }

  /** Or has just left it: its nodes are starting. */
  private static boolean isInQueue(Backend backend, Discovered found) {
    return backend.capabilities().hasQueue() && !found.complete();
  }

  /** A site may rewrite what gpush writes on its jobs: then only its name finds a gang. */
  private static boolean mayBeInQueue(Backend backend, Gang gang) {
    return backend.capabilities().hasQueue()
        && !(backend.observe(gang) instanceof Observation.Gone);
  }

  /** The state of one of several bids. */
  private sealed interface Fate {
    record Whole(Backend backend, Gang gang) implements Fate {}

    record Queued() implements Fate {}

    record Half() implements Fate {}

    record Absent() implements Fate {}

    record Unknown(GpushException why) implements Fate {}
  }

  /**
   * With several bids, the first whole gang is kept and the others are released. While none is
   * whole, queued bids stay in their queues, and unreachable backends are kept too.
   */
  private void adoptOne(LiveSession session) throws InterruptedException {
    Map<Bid, Fate> fates = fates(session.entry());
    if (fates.values().stream().noneMatch(Fate.Whole.class::isInstance)) {
      Thread.sleep(settle);
      fates = fates(session.entry());
    }
    for (var bid : fates.entrySet()) {
      if (bid.getValue() instanceof Fate.Whole(var backend, var gang)) {
        session.move(session.entry().won(bid.getKey(), gang), backend);
        takeOver(session);
        return;
      }
    }
    Map<Bid, Fate> now = fates;
    List<Bid> kept =
        session.entry().reservation().wanted().stream().filter(bid -> isKept(bid, now)).toList();
    if (kept.isEmpty()) {
      for (Fate fate : now.values()) {
        if (fate instanceof Fate.Unknown(var why)) {
          throw why;
        }
      }
      releases.releaseAll(session);
      forget(session);
      return;
    }
    // Bids that are not queued are released once one of the others has the gang.
    Bid top = kept.getFirst();
    Backend first = backends.named(top.backend()).map(top::at).orElse(session.backend());
    session.move(session.entry().asking(kept, session.entry().reservation().inherit()), first);
    session.waits(TAKEN_UP);
  }

  /** In a queue, or at a backend that cannot be reached now. */
  private boolean isKept(Bid bid, Map<Bid, Fate> fates) {
    return switch (fates.get(bid)) {
      case Fate.Queued _ -> true;
      case Fate.Unknown _ ->
          backends
              .named(bid.backend())
              .map(backend -> backend.capabilities().hasQueue())
              .orElse(false);
      case Fate.Whole _, Fate.Half _, Fate.Absent _ -> false;
      case null -> false;
    };
  }

  private Map<Bid, Fate> fates(LedgerEntry entry) {
    var fates = new LinkedHashMap<Bid, Fate>();
    for (Bid bid : entry.reservation().wanted()) {
      fates.put(bid, fate(bid, entry.keeper().owner()));
    }
    return fates;
  }

  private Fate fate(Bid bid, String owner) {
    Optional<Backend> backend = backends.named(bid.backend()).map(bid::at);
    if (backend.isEmpty()) {
      return new Fate.Unknown(
          new GpushException(
              new BackendFailure.Unavailable(
                  bid.backend(), "it is no longer configured", "gpush backends")));
    }
    try {
      Optional<Discovered> found =
          backend.get().discover(owner).stream()
              .filter(each -> each.gang().id().equals(bid.gang()))
              .findFirst();
      if (found.isEmpty()) {
        var gang = new Gang(bid.gang(), bid.backend(), List.of(), "");
        return mayBeInQueue(backend.get(), gang) ? new Fate.Queued() : new Fate.Absent();
      }
      if (found.get().complete()) {
        return new Fate.Whole(backend.get(), found.get().gang());
      }
      return isInQueue(backend.get(), found.get()) ? new Fate.Queued() : new Fate.Half();
    } catch (GpushException unknown) {
      return new Fate.Unknown(unknown);
    }
  }

  private static Optional<Discovered> discover(LiveSession session) {
    return session.backend().discover(session.entry().keeper().owner()).stream()
        .filter(gang -> gang.gang().id().equals(session.entry().gang()))
        .findFirst();
  }

  private void takeOver(LiveSession session) throws InterruptedException {
    if (!session.links().isEmpty()) {
      // A command has linked it between two attempts.
      return;
    }
    switch (session.backend().observe(session.gang())) {
      case Observation.Gone(var reason) -> {
        session.change(was -> was.in(SessionState.RELEASING, reason));
        finishRelease(session);
        return;
      }
      case Observation.Partly partly -> session.lose(partly);
      case Observation.Exists _, Observation.CannotTell _ -> {}
    }
    try {
      links.connect(session, Optional.empty(), CONNECT_LIMIT);
      if (session.entry().state() == SessionState.GRANTED) {
        idleTime.apply(session, Talk.silent());
      }
    } catch (GpushException refused) {
      // No second attempt then: two gateways would keep taking the gang from each other.
      if (!(refused.failure() instanceof AgentFailure.Superseded)) {
        throw refused;
      }
      links.watch(session);
      return;
    }
    session.change(was -> was.in(SessionState.READY, ""));
    links.observeSoon(session);
  }

  private void finishRelease(LiveSession session) throws InterruptedException {
    releases.releaseAll(session);
    session.change(was -> was.in(SessionState.RELEASED, was.detail()));
  }
}
