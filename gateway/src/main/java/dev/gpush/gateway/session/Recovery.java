package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.Optional;

/**
 * What a new gateway does with the ledger of the one before it: adopts what is whole, cleans what
 * is not, and never asks for anything again. Kill -9 at any point ends here in ready, released or a
 * leak that {@code ps} and {@code doctor} show.
 */
final class Recovery {
  private static final Duration RELEASE_LIMIT = Duration.ofSeconds(60);
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

  private final Ledger ledger;
  private final Backends backends;
  private final SessionLinks linker;
  private final Duration settle;
  private final Tasks tasks;
  private final Runnable changed;

  /**
   * @param settle how long a start that the dead gateway had under way may still take to show an
   *     agent
   */
  Recovery(
      Ledger ledger,
      Backends backends,
      SessionLinks linker,
      Duration settle,
      Tasks tasks,
      Runnable changed) {
    this.ledger = ledger;
    this.backends = backends;
    this.linker = linker;
    this.settle = settle;
    this.tasks = tasks;
    this.changed = changed;
  }

  /**
   * Puts every session that is not over into the book at once, and goes to each on a thread of its
   * own; a command that wants one waits for its turn.
   */
  void start(GatewaySessions book) {
    for (LedgerEntry entry : ledger.load()) {
      if (entry.state().isOver()) {
        continue;
      }
      Optional<Backend> backend = backends.named(entry.backend());
      if (backend.isEmpty()) {
        ledger.put(
            entry.in(
                SessionState.LEAKED, "backend " + entry.backend() + " is not configured any more"));
        continue;
      }
      var session = new LiveSession(entry, backend.get(), ledger);
      book.adopt(session);
      tasks.start("recover-" + entry.name(), () -> recover(book, session));
    }
  }

  private void recover(GatewaySessions book, LiveSession session) {
    try (LiveSession.Turn _ = session.begin("recovery", Talk.silent())) {
      settle(session);
    } catch (GpushException failed) {
      session.move(session.entry().in(SessionState.LEAKED, failed.failure().toString()));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      if (session.isOver()) {
        book.drop(session);
      }
      changed.run();
    }
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
    Optional<Discovered> found = discover(session);
    if (found.isEmpty() || !found.get().complete()) {
      Thread.sleep(settle);
      found = discover(session);
    }
    if (found.isEmpty()) {
      session.forget();
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

  private static Optional<Discovered> discover(LiveSession session) {
    return session.backend().discover(session.entry().owner()).stream()
        .filter(gang -> gang.gang().id().equals(session.entry().gang()))
        .findFirst();
  }

  private void takeOver(LiveSession session) throws InterruptedException {
    if (!session.links().isEmpty()) {
      // A command that came first has linked it.
      return;
    }
    if (session.backend().observe(session.gang()) instanceof Observation.Gone(var reason)) {
      session.backend().release(session.whateverIsThere(), RELEASE_LIMIT);
      session.move(session.entry().in(SessionState.RELEASED, reason));
      return;
    }
    linker.connect(session, Optional.empty(), CONNECT_LIMIT);
    session.move(session.entry().in(SessionState.READY, ""));
  }

  private static void finishRelease(LiveSession session) throws InterruptedException {
    session.backend().release(session.whateverIsThere(), RELEASE_LIMIT);
    session.move(session.entry().in(SessionState.RELEASED, session.entry().detail()));
  }
}
