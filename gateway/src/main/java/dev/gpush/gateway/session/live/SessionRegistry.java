package dev.gpush.gateway.session.live;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.Ended;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.core.text.Nearest;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.SessionFiles;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The sessions of this process by name and by workspace. Its lock is held for moments only. */
public final class SessionRegistry {
  /** Terminals that show a session look soon after its end, so a few are enough. */
  private static final int ENDED = 16;

  private final SessionFiles files;
  private final Runnable changed;
  private final ChangeSignal changes = new ChangeSignal();

  // guarded by this: live, ended
  private final Map<SessionName, LiveSession> live = new LinkedHashMap<>();
  private final Deque<Ended> ended = new ArrayDeque<>();

  /**
   * @param changed called after a session was removed
   */
  public SessionRegistry(SessionFiles files, Runnable changed) {
    this.files = files;
    this.changed = changed;
  }

  /** Signals when users would see something else of a session. */
  public ChangeSignal changes() {
    return changes;
  }

  /** A session with its turn. */
  public record Taken(LiveSession session, TurnQueue.Turn turn) {}

  /** How {@code up} takes the turn of a session; empty when it can join a request instead. */
  @FunctionalInterface
  public interface TurnTaking {
    Optional<TurnQueue.Turn> take(LiveSession session) throws InterruptedException;
  }

  /**
   * A session for {@code up}.
   *
   * @param turn empty: it has a request in progress instead, which the caller follows
   */
  public record Entered(LiveSession session, Optional<TurnQueue.Turn> turn, boolean isNew) {}

  /**
   * The session of this name, or of this folder when no name is given, once its turn has come or
   * its request can be joined; else a new one, whose turn is taken before another command can find
   * it.
   *
   * @param taking takes the turn of a session that there is
   */
  public Entered enter(
      Optional<SessionName> name,
      Path root,
      TurnTaking taking,
      Function<SessionName, LiveSession> maker)
      throws InterruptedException {
    LiveSession found;
    synchronized (this) {
      Optional<LiveSession> there = there(name, root);
      if (there.isEmpty()) {
        LiveSession made = maker.apply(name.orElseGet(this::freeName));
        var entered = new Entered(made, Optional.of(made.beginFirst("up")), true);
        live.put(made.name(), made);
        changes.signal();
        return entered;
      }
      found = there.get();
    }
    return new Entered(found, taking.take(found), false);
  }

  /** This folder's session, or the only one that there is. */
  public synchronized LiveSession of(Path root) {
    Optional<LiveSession> here = there(Optional.empty(), root);
    if (here.isEmpty() && live.size() == 1) {
      return live.values().iterator().next();
    }
    return here.orElseThrow(
        () -> new GpushException(new UsageFailure.WhichSession(List.copyOf(names()))));
  }

  public synchronized LiveSession named(SessionName name) {
    LiveSession session = live.get(name);
    if (session == null) {
      throw new GpushException(
          new UsageFailure.UnknownSession(
              name.text(), Nearest.one(name.text(), names()).stream().toList(), names()));
    }
    return session;
  }

  /** Every session, over or not. */
  public synchronized List<LiveSession> all() {
    return List.copyOf(live.values());
  }

  /** The session of this name, or without one those of this folder. */
  public Stream<LiveSession> meant(Optional<SessionName> name, Path root) {
    return all().stream()
        .filter(
            session ->
                name.map(session.name()::equals)
                    .orElseGet(() -> session.entry().root().equals(root)));
  }

  /** The one of these whose request waits for nodes. */
  public Optional<LiveSession> waiting(Optional<SessionName> name, Path root) {
    return meant(name, root).filter(LiveSession::isWaiting).findFirst();
  }

  /** Adds a session of an earlier gateway; under a free name if its own is taken now. */
  public Taken adopt(LedgerEntry entry, Backend backend, Ledger ledger) {
    Taken taken;
    synchronized (this) {
      boolean isFree = !live.containsKey(entry.name());
      LedgerEntry unique = isFree ? entry : entry.named(freeName());
      var session = new LiveSession(unique, backend, ledger, changes);
      taken = new Taken(session, session.beginFirst("recovery"));
      live.put(session.name(), session);
      changes.signal();
    }
    if (!taken.session().name().equals(entry.name())) {
      taken.session().changeAnyway(was -> was);
    }
    return taken;
  }

  /** Takes out a session that is over; its files go with it. */
  public void remove(LiveSession session) {
    LedgerEntry last = session.entry();
    files.forget(last);
    synchronized (this) {
      if (live.remove(session.name(), session)) {
        String why = last.state() == SessionState.RELEASED ? last.detail() : "";
        ended.addFirst(new Ended(last.id(), why));
      }
      if (ended.size() > ENDED) {
        ended.removeLast();
      }
    }
    changes.signal();
    changed.run();
  }

  /** Some of those that were removed, the newest first. */
  public synchronized List<Ended> ended() {
    return List.copyOf(ended);
  }

  // holds lock
  private Optional<LiveSession> there(Optional<SessionName> name, Path root) {
    if (name.isPresent()) {
      return Optional.ofNullable(live.get(name.get()));
    }
    return live.values().stream()
        .filter(session -> session.entry().root().equals(root))
        .findFirst();
  }

  // holds lock
  private SessionName freeName() {
    for (int number = 1; ; number++) {
      var name = new SessionName(number == 1 ? "devbox" : "devbox" + number);
      if (!live.containsKey(name)) {
        return name;
      }
    }
  }

  // holds lock
  private List<String> names() {
    return live.keySet().stream().map(SessionName::text).sorted().toList();
  }
}
