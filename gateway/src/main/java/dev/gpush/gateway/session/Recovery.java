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
import dev.gpush.gateway.session.ledger.Reservation;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
      case ASKED, QUEUED -> adoptOne(session);
      case GRANTED, READY, DEGRADED -> takeOver(session);
      case RELEASING, LEAKED -> finishRelease(session);
      case RELEASED -> {}
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

  /** What its backend has of a bid. */
  private sealed interface BidState {
    record Whole(Backend backend, Gang gang) implements BidState {}

    record Queued() implements BidState {}

    record Half(Backend backend, Gang gang) implements BidState {}

    record Absent() implements BidState {}

    record Unknown(GpushException why, boolean hasQueue) implements BidState {}
  }

  /**
   * The reply was lost with the gateway. The first whole gang is kept, and other bids are released.
   * While none is whole, bids in a queue stay there, and so do those of a queue that cannot be
   * reached.
   */
  private void adoptOne(LiveSession session) throws InterruptedException {
    Map<Bid, BidState> states = states(session.entry());
    boolean isWhole = states.values().stream().anyMatch(BidState.Whole.class::isInstance);
    boolean isUnknown = states.values().stream().allMatch(BidState.Unknown.class::isInstance);
    if (!isWhole && !isUnknown) {
      Thread.sleep(settle);
      states = states(session.entry());
    }
    var kept = new ArrayList<Bid>();
    String waits = "";
    Optional<GpushException> unknown = Optional.empty();
    for (var bid : states.entrySet()) {
      switch (bid.getValue()) {
        case BidState.Whole(var backend, var gang) -> {
          session.moveAnyway(session.entry().won(bid.getKey(), gang), backend);
          takeOver(session);
          return;
        }
        case BidState.Queued _ -> {
          kept.add(bid.getKey());
          waits = TAKEN_UP;
        }
        case BidState.Unknown(var why, var hasQueue) when hasQueue -> {
          kept.add(bid.getKey());
          waits = waits.isEmpty() ? FailureText.clause(why.failure()) : waits;
        }
        case BidState.Unknown(var why, _) -> unknown = unknown.or(() -> Optional.of(why));
        case BidState.Half _, BidState.Absent _ -> {}
      }
    }
    if (kept.isEmpty()) {
      if (unknown.isPresent()) {
        throw unknown.get();
      }
      releaseRest(session, states);
      forget(session);
      return;
    }
    // Bids that are not queued are released once one of the others has the gang.
    Bid top = kept.getFirst();
    Backend first = backends.named(top.backend()).map(top::at).orElse(session.backend());
    Reservation was = session.entry().reservation();
    session.moveAnyway(session.entry().with(was.asking(kept, was.inherit())), first);
    session.waits(waits);
  }

  private void releaseRest(LiveSession session, Map<Bid, BidState> states)
      throws InterruptedException {
    if (!session.entry().others().isEmpty()) {
      releases.releaseAll(session);
    } else if (states.get(session.entry().reservation().first())
        instanceof BidState.Half(var backend, var gang)) {
      // With the nodes that were found: without them, every host would have to answer.
      backend.release(gang, RELEASE_LIMIT);
    } else {
      sweep(session);
    }
  }

  private Map<Bid, BidState> states(LedgerEntry entry) {
    var states = new LinkedHashMap<Bid, BidState>();
    for (Bid bid : entry.reservation().wanted()) {
      states.put(bid, state(bid, entry.keeper().owner()));
    }
    return states;
  }

  private BidState state(Bid bid, String owner) {
    Optional<Backend> backend = backends.named(bid.backend()).map(bid::at);
    if (backend.isEmpty()) {
      return new BidState.Unknown(
          new GpushException(
              new BackendFailure.Unavailable(
                  bid.backend(), "it is no longer configured", "gpush backends")),
          false);
    }
    boolean hasQueue = backend.get().capabilities().hasQueue();
    try {
      Optional<Discovered> found =
          backend.get().discover(owner).stream()
              .filter(each -> each.gang().id().equals(bid.gang()))
              .findFirst();
      if (found.isEmpty()) {
        // A site may rewrite what gpush writes on its jobs: then only its name finds a gang.
        boolean mayBeThere =
            hasQueue && !(backend.get().observe(bid.gangToRelease()) instanceof Observation.Gone);
        return mayBeThere ? new BidState.Queued() : new BidState.Absent();
      }
      if (found.get().complete()) {
        return new BidState.Whole(backend.get(), found.get().gang());
      }
      // In its queue, or it has just left it: its nodes are starting.
      return hasQueue
          ? new BidState.Queued()
          : new BidState.Half(backend.get(), found.get().gang());
    } catch (GpushException unknown) {
      return new BidState.Unknown(unknown, hasQueue);
    }
  }

  private void takeOver(LiveSession session) throws InterruptedException {
    if (!session.links().isEmpty()) {
      // A command has linked it between two attempts.
      return;
    }
    switch (session.backend().observe(session.gang())) {
      case Observation.Gone(var reason) -> {
        session.changeAnyway(was -> was.in(SessionState.RELEASING, reason));
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
    session.changeAnyway(was -> was.in(SessionState.READY, ""));
    links.restoreLease(session);
    links.observeSoon(session);
  }

  private boolean isThereAndTaken(LiveSession session) throws InterruptedException {
    return session.entry().grant().isPresent()
        && !(session.backend().observe(session.gang()) instanceof Observation.Gone)
        && links.isTaken(session);
  }

  /** Not that of a gang that another home has adopted since its release failed here. */
  private void finishRelease(LiveSession session) throws InterruptedException {
    if (isThereAndTaken(session)) {
      takeOver(session);
      return;
    }
    releases.releaseAll(session);
    session.changeAnyway(was -> was.in(SessionState.RELEASED, was.detail()));
  }
}
