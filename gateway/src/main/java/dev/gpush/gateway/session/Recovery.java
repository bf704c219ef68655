package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a new gateway does with the ledger of the one before it: adopts what is whole, cleans what
 * is not, and never asks for anything again. Kill -9 at any point ends here in ready, released or a
 * leak that {@code ps} and {@code doctor} show.
 */
final class Recovery {
  private static final System.Logger LOG = System.getLogger("gpush.session");

  private static final Duration RELEASE_LIMIT = Duration.ofSeconds(60);
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

  private final Ledger ledger;
  private final Backends backends;
  private final SessionLinks linker;
  private final Leftovers leftovers;
  private final Duration settle;
  private final Duration pause;
  private final Tasks tasks;
  private final Runnable changed;

  Recovery(
      Ledger ledger,
      Backends backends,
      SessionLinks linker,
      Leftovers leftovers,
      Timing timing,
      Tasks tasks,
      Runnable changed) {
    this.ledger = ledger;
    this.backends = backends;
    this.linker = linker;
    this.leftovers = leftovers;
    this.settle = timing.settle();
    this.pause = timing.observePause();
    this.tasks = tasks;
    this.changed = changed;
  }

  /**
   * Puts every session that is not over into the book at once, and goes to each on a thread of its
   * own. Each has its turn taken before it is in the book: a command that wants one waits.
   */
  void start(GatewaySessions book) {
    for (LedgerEntry entry : ledger.load()) {
      if (entry.state().isOver()) {
        book.clean(entry);
        continue;
      }
      Optional<Backend> backend = backends.named(entry.backend());
      if (backend.isEmpty()) {
        ledger.put(
            entry.in(
                SessionState.LEAKED, "backend " + entry.backend() + " is not configured any more"));
        continue;
      }
      SessionBook.Taken taken = book.adopt(entry, backend.get());
      tasks.start(
          "recover-" + taken.session().name(), () -> recover(book, taken.session(), taken.turn()));
    }
  }

  private void recover(GatewaySessions book, LiveSession session, LiveSession.Turn turn) {
    try {
      boolean isSettled;
      try (turn) {
        isSettled = attempt(session);
      }
      while (!isSettled) {
        Thread.sleep(pause);
        try (LiveSession.Turn _ = session.begin("recovery", Talk.silent())) {
          isSettled = session.isOver() || session.isClosed() || attempt(session);
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException closing) {
      // The gateway ends and starts nothing more; the next one looks.
      if (!Thread.currentThread().isInterrupted()) {
        throw closing;
      }
    } finally {
      if (session.isOver()) {
        book.drop(session);
      } else {
        changed.run();
        giveOthersBack(session);
      }
    }
  }

  /** A session that has its gang gives back what others may hold of it. */
  private void giveOthersBack(LiveSession session) {
    try {
      boolean isAlive = isHeld(session) || session.isWaiting();
      if (isAlive && !Thread.currentThread().isInterrupted()) {
        leftovers.sweepSoon(session, () -> {});
      }
    } catch (IllegalStateException closing) {
      // The next gateway sees to it.
    }
  }

  /**
   * False when a gang that was granted could not be taken over: whatever the reason is, "cannot
   * tell" is never "gone", and a leak would be released by the next gateway with all that runs.
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
      why = Endings.why(failed);
      return true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return true;
    } finally {
      // A gateway that ends leaves the entry as it is to the next one.
      if (!isSettled && !isHeld(session) && !Thread.currentThread().isInterrupted()) {
        session.leak(why);
      }
    }
  }

  private static boolean isHeld(LiveSession session) {
    return switch (session.entry().state()) {
      case GRANTED, LINKED, READY, DEGRADED -> true;
      case ASKED, QUEUED, RELEASING, RELEASED, LEAKED -> false;
    };
  }

  private void settle(LiveSession session) throws InterruptedException {
    switch (session.entry().state()) {
      case ASKED, QUEUED -> adoptOrForget(session);
      case GRANTED, LINKED, READY, DEGRADED -> takeOver(session);
      case RELEASING, LEAKED -> finishRelease(session);
      case RELEASED -> {}
    }
  }

  /** The reply was lost with the gateway: the gang is whole, or it goes. */
  private void adoptOrForget(LiveSession session) throws InterruptedException {
    if (!session.entry().others().isEmpty()) {
      adoptOne(session);
      return;
    }
    Optional<Discovered> found = discover(session);
    if (found.isEmpty() || !found.get().complete()) {
      Thread.sleep(settle);
      found = discover(session);
    }
    if (found.isEmpty()) {
      sweep(session);
      session.forget();
      return;
    }
    if (isInQueue(session, found.get())) {
      // Its place is kept; nobody asks for it again but a person who says up.
      session.waits("gpush up waits with it");
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

  /**
   * Folders that were made before anything began. There is no gang, so a failure is no leak: what
   * nobody has claimed ends by itself.
   */
  private static void sweep(LiveSession session) throws InterruptedException {
    try {
      session.backend().release(session.whateverIsThere(), RELEASE_LIMIT);
    } catch (GpushException failed) {
      LOG.log(
          System.Logger.Level.INFO,
          "nothing to sweep of an intent, gang={0} why={1}",
          session.entry().gang(),
          Endings.why(failed));
    }
  }

  private static boolean isInQueue(LiveSession session, Discovered found) {
    return isInQueue(session.backend(), found);
  }

  /** Or has just left it: its nodes are starting, and whoever says up waits for them. */
  private static boolean isInQueue(Backend backend, Discovered found) {
    return backend.hasQueue() && !found.complete();
  }

  /** What became of one of several that were asked. */
  private sealed interface Fate {
    record Whole(Backend backend, Gang gang) implements Fate {}

    record Queued() implements Fate {}

    record Half() implements Fate {}

    record Absent() implements Fate {}

    record Unknown(GpushException why) implements Fate {}
  }

  /**
   * Several were asked: the first that is whole stays and the others are given back; while none is,
   * those in a queue keep their places, and nobody who is out of reach is forgotten.
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
        session.entry().wanted().stream()
            .filter(bid -> now.get(bid) instanceof Fate.Queued)
            .toList();
    if (kept.isEmpty()) {
      for (Fate fate : now.values()) {
        if (fate instanceof Fate.Unknown(var why)) {
          throw why;
        }
      }
      leftovers.releaseAll(session);
      session.forget();
      return;
    }
    // Who is not in a queue is released once one of those has the gang.
    Backend first = backends.named(kept.getFirst().backend()).orElse(session.backend());
    session.move(session.entry().asking(kept, session.entry().inherit()), first);
    session.waits("gpush up waits with it");
  }

  private Map<Bid, Fate> fates(LedgerEntry entry) {
    var fates = new LinkedHashMap<Bid, Fate>();
    for (Bid bid : entry.wanted()) {
      fates.put(bid, fate(bid, entry.owner()));
    }
    return fates;
  }

  private Fate fate(Bid bid, String owner) {
    Optional<Backend> backend = backends.named(bid.backend());
    if (backend.isEmpty()) {
      return new Fate.Unknown(
          new GpushException(
              new BackendFailure.Unavailable(
                  bid.backend(), "it is not configured any more", "gpush backends")));
    }
    try {
      Optional<Discovered> found =
          backend.get().discover(owner).stream()
              .filter(each -> each.gang().id().equals(bid.gang()))
              .findFirst();
      if (found.isEmpty()) {
        return new Fate.Absent();
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
    return session.backend().discover(session.entry().owner()).stream()
        .filter(gang -> gang.gang().id().equals(session.entry().gang()))
        .findFirst();
  }

  private void takeOver(LiveSession session) throws InterruptedException {
    if (!session.links().isEmpty()) {
      // Between two tries a command has linked it.
      return;
    }
    switch (session.backend().observe(session.gang())) {
      case Observation.Gone(var reason) -> {
        session.move(session.entry().in(SessionState.RELEASING, reason));
        finishRelease(session);
        return;
      }
      case Observation.Partly partly -> session.lose(partly);
      case Observation.Exists _, Observation.CannotTell _ -> {}
    }
    try {
      linker.connect(session, Optional.empty(), CONNECT_LIMIT);
    } catch (GpushException refused) {
      if (!(refused.failure() instanceof AgentFailure.Superseded other)) {
        throw refused;
      }
      // No second try: two gateways that both insist would take the gang from each other for ever.
      session.lookOn(other);
    }
    session.move(session.entry().in(SessionState.READY, ""));
    linker.observeSoon(session);
  }

  private void finishRelease(LiveSession session) throws InterruptedException {
    leftovers.releaseAll(session);
    session.move(session.entry().in(SessionState.RELEASED, session.entry().detail()));
  }
}
