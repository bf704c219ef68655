package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.lifecycle.SessionEndings;
import dev.gpush.gateway.session.lifecycle.UnknownGangs;
import dev.gpush.gateway.session.live.LiveSession;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Compares the ledger with what the backends report: everything that was ever reserved, and whether
 * it is gone. Ends only the owner's own gangs whose lease is no longer renewed, and only on
 * request.
 */
public final class Doctor {
  /** Older ones were proved by earlier calls. */
  private static final int PROVED_ENDS = 20;

  /** As for a session that is given back. */
  private static final Duration RELEASE_LIMIT = Duration.ofSeconds(60);

  private final Ledger ledger;
  private final Backends backends;
  private final UnknownGangs unknown;
  private final SessionViews views;
  private final Clock clock;

  public Doctor(
      Ledger ledger, Backends backends, UnknownGangs unknown, SessionViews views, Clock clock) {
    this.ledger = ledger;
    this.backends = backends;
    this.unknown = unknown;
    this.views = views;
    this.clock = clock;
  }

  public List<Finding> findings(List<LiveSession> live) {
    var findings = new ArrayList<Finding>();
    var known = new HashSet<String>();
    for (LiveSession session : live) {
      known.add(session.entry().gang().text());
      findings.add(of(session));
      for (Bid bid : session.entry().others()) {
        known.add(bid.gang().text());
        findings.add(of(session, bid));
      }
    }
    List<LedgerEntry> all = ledger.load();
    for (LedgerEntry entry : all) {
      if (!entry.state().isOver() && known.add(entry.gang().text())) {
        findings.add(unwatched(entry));
      }
    }
    List<LedgerEntry> ended = all.stream().filter(entry -> entry.state().isOver()).toList();
    for (LedgerEntry entry : ended.subList(Math.max(0, ended.size() - PROVED_ENDS), ended.size())) {
      known.add(entry.gang().text());
      findings.add(proof(entry));
    }
    findings.addAll(unknown(known));
    for (Path damaged : ledger.damaged()) {
      findings.add(
          Finding.bad("damaged ledger entry", damaged.toString())
              .trying("read it, then remove the file"));
    }
    findings.sort(
        Comparator.comparingInt(finding -> List.of("bad", "warn", "ok").indexOf(finding.status())));
    return findings;
  }

  private static Finding of(LiveSession session, Bid bid) {
    String what = "gang " + bid.gang() + " on " + bid.backend();
    return bid.isWanted()
        ? Finding.ok(what, "a second request for session " + session.name())
        : Finding.warn(what, "a request of session " + session.name() + " that is being cancelled");
  }

  private Finding of(LiveSession session) {
    LedgerEntry entry = session.entry();
    String what = "session " + entry.name();
    SessionState state = session.shownState();
    return switch (state) {
      case READY -> Finding.ok(what, views.of(session, false).shape() + " on " + entry.backend());
      case DEGRADED -> Finding.warn(what, views.of(session, false).detail()).trying("gpush ps");
      case LEAKED ->
          Finding.bad(what, "may still be held: " + entry.detail())
              .trying("gpush down -s " + entry.name());
      case ASKED, QUEUED, GRANTED, RELEASING, RELEASED -> Finding.ok(what, state.word());
    };
  }

  /**
   * A session in the ledger that this gateway does not hold: another machine does, or its backend
   * is no longer configured.
   */
  private Finding unwatched(LedgerEntry entry) {
    if (backends.named(entry.backend()).isPresent()) {
      return Finding.ok(
          "session " + entry.name(),
          "held by another machine that uses this home: " + entry.keeper().holder().words());
    }
    return Finding.bad(
            "session " + entry.name(),
            "may still be held on " + entry.backend() + ", which is not configured")
        .trying("configure backend " + entry.backend() + " again, then gpush gateway stop");
  }

  private Finding proof(LedgerEntry entry) {
    String age = DurationText.coarse(Duration.between(entry.created(), clock.now()));
    String what = "ended session " + entry.name() + " (made " + age + " ago)";
    Optional<Backend> backend =
        backends.named(entry.backend()).map(entry.reservation().first()::at);
    if (backend.isEmpty()) {
      return Finding.warn(what, "cannot tell: no backend " + entry.backend());
    }
    return switch (observed(backend.get(), entry.gangToRelease())) {
      case Observation.Gone _ -> Finding.ok(what, "gone");
      case Observation.CannotTell(var reason) -> Finding.warn(what, "cannot tell: " + reason);
      case Observation.Exists _, Observation.Partly _ ->
          Finding.bad(what, "still held on " + entry.backend() + "; gpush doctor --end ends it")
              .trying("gpush adopt " + entry.name());
    };
  }

  private static Observation observed(Backend backend, Gang gang) {
    try {
      return backend.observe(gang);
    } catch (GpushException failed) {
      return new Observation.CannotTell(SessionEndings.why(failed));
    }
  }

  /** Gangs of this owner that no session of this home has. */
  private List<Finding> unknown(Set<String> known) {
    var findings = new ArrayList<Finding>();
    for (UnknownGangs.Stranger stranger : unknown.look(known, findings)) {
      Discovered found = stranger.found();
      String session = "session " + found.session();
      findings.add(
          unknown.isForgotten(found)
              ? Finding.bad(
                      stranger.what(),
                      session
                          + " was made here, and no session has it; its lease is no longer renewed;"
                          + " gpush doctor --end ends it")
                  .trying("gpush adopt " + found.session())
              : Finding.warn(
                      stranger.what(),
                      session
                          + " of "
                          + new Holder(found.holder()).words()
                          + " is not in this ledger; it ends when its lease does")
                  .trying("gpush adopt " + found.session() + " --take"));
    }
    return findings;
  }

  /** Ends the owner's own gangs whose lease is no longer renewed; asks about each. */
  public List<Finding> end(List<LiveSession> live, Talk talk) throws InterruptedException {
    var known = new HashSet<String>();
    live.forEach(session -> known.addAll(UnknownGangs.gangs(session.entry())));
    var findings = new ArrayList<Finding>();
    for (UnknownGangs.Stranger stranger : unknown.look(known, findings)) {
      if (unknown.isForgotten(stranger.found())) {
        findings.add(isAgreed(stranger, talk) ? ended(stranger) : kept(stranger));
      }
    }
    return findings;
  }

  private static boolean isAgreed(UnknownGangs.Stranger stranger, Talk talk) {
    try {
      talk.confirm(
          "End " + stranger.what() + " (session " + stranger.found().session() + ")?", "--yes");
      return true;
    } catch (GpushException refused) {
      if (refused.failure() instanceof UsageFailure.Declined
          && !(refused.getCause() instanceof InterruptedException)) {
        return false;
      }
      throw refused;
    }
  }

  private static Finding kept(UnknownGangs.Stranger stranger) {
    return Finding.warn(stranger.what(), "not ended, as you said");
  }

  private static Finding ended(UnknownGangs.Stranger stranger) throws InterruptedException {
    try {
      List<String> kept = stranger.backend().release(stranger.found().gang(), RELEASE_LIMIT);
      return Finding.ok(
          stranger.what(),
          kept.isEmpty() ? "ended" : "ended; kept there: " + String.join(", ", kept));
    } catch (GpushException failed) {
      return Finding.bad(stranger.what(), "not ended: " + SessionEndings.why(failed))
          .trying("gpush doctor");
    }
  }
}
