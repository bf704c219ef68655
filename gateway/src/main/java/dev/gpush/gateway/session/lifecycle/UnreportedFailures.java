package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.live.LiveSession;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Requests that failed while no command waited for them: the user learns of each from {@code ps},
 * and from the next {@code up} of its folder, also when the gateway was restarted meanwhile.
 */
public final class UnreportedFailures {
  private static final System.Logger LOG = System.getLogger("gpush.session");

  private final Ledger ledger;

  // guarded by this: one for each workspace
  private final Map<Path, LedgerEntry> unheard = new LinkedHashMap<>();

  public UnreportedFailures(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Whether an entry of the ledger is one of these, and not a session that was given back. */
  public static boolean isOne(LedgerEntry entry) {
    return entry.state() == SessionState.RELEASED
        && entry.grant().isEmpty()
        && !entry.detail().isEmpty();
  }

  /**
   * Adds a request that was undone; one that may still hold something is shown as a leak instead.
   */
  public void add(LiveSession session, String why) {
    if (session.isOver()) {
      LedgerEntry entry = session.entry().in(SessionState.RELEASED, why);
      LOG.log(System.Logger.Level.INFO, "request ended, session={0} why={1}", entry.name(), why);
      try {
        ledger.put(entry);
      } catch (GpushException unwritten) {
        // It is reported as long as this gateway runs.
      }
      add(entry);
    }
  }

  public synchronized void add(LedgerEntry entry) {
    unheard.put(entry.root(), entry);
  }

  public List<EndedRequest> all() {
    var all = new ArrayList<EndedRequest>();
    synchronized (this) {
      unheard.values().forEach(entry -> all.add(ended(entry)));
    }
    return all;
  }

  /** The failure of this workspace, which the caller reports; then it is forgotten. */
  public Optional<EndedRequest> take(Path root) {
    Optional<LedgerEntry> entry;
    synchronized (this) {
      entry = Optional.ofNullable(unheard.remove(root));
    }
    entry.ifPresent(this::forget);
    return entry.map(UnreportedFailures::ended);
  }

  private void forget(LedgerEntry entry) {
    try {
      ledger.forget(entry);
    } catch (GpushException unwritten) {
      // The next gateway reports it once more.
    }
  }

  private static EndedRequest ended(LedgerEntry entry) {
    return new EndedRequest(entry.name(), entry.created(), entry.detail());
  }
}
