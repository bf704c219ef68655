package dev.gpush.gateway.session;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.session.UpRequest.Existing;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.lifecycle.EndConsent;
import dev.gpush.gateway.session.lifecycle.PythonChange;
import dev.gpush.gateway.session.lifecycle.SessionEndings;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.gateway.session.placement.Placement;
import dev.gpush.gateway.session.placement.RequestBuilder;
import dev.gpush.gateway.session.placement.ResolvedUp;
import dev.gpush.link.LinkState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What {@code up} does with a session that exists: attaches to it, replaces it, or says how it
 * differs from what was asked for. The caller has the session's turn.
 */
final class SessionReuse {
  private final GatewayIdentity identity;
  private final RequestBuilder requests;
  private final Placement placement;
  private final SessionEndings endings;
  private final SessionLinks links;
  private final Runnable changed;

  SessionReuse(
      GatewayIdentity identity,
      RequestBuilder requests,
      Placement placement,
      SessionEndings endings,
      SessionLinks links,
      Runnable changed) {
    this.identity = identity;
    this.requests = requests;
    this.placement = placement;
    this.endings = endings;
    this.links = links;
    this.changed = changed;
  }

  /**
   * One {@code up}: what is asked for, as it is understood, and the user's consent and terminal.
   */
  record UpCall(UpRequest request, Config config, ResolvedUp wish, EndConsent consent, Talk talk) {}

  /**
   * Takes the turn of a session; empty when it has a request that can be joined. For one that will
   * be replaced the user agrees first, and then a push of another command is stopped.
   */
  Optional<TurnQueue.Turn> begin(LiveSession session, UpCall up) throws InterruptedException {
    if (!up.request().existing().mayBeReplaced()) {
      return session.beginOrJoin("up", up.talk());
    }
    Optional<TurnQueue.Turn> free = session.tryBegin("up");
    if (free.isPresent() || session.pending().isPresent()) {
      return free;
    }
    return session.lost().isPresent() || differs(session, up)
        ? endings.begin(session, "up", up.consent(), up.talk())
        : session.beginOrJoin("up", up.talk());
  }

  /**
   * A gang that is gone is cleaned up and made again, because a command asks for it; one that has
   * lost nodes only if it may be replaced.
   */
  boolean hasEnded(LiveSession session, UpCall up) throws InterruptedException {
    if (session.allUp()) {
      return false;
    }
    return switch (session.backend().observe(session.gangToRelease())) {
      case Observation.Gone(var why) -> {
        up.talk().say(session.name() + " was gone: " + why);
        endings.giveBack(session, why, up.talk());
        yield true;
      }
      case Observation.Partly partly -> {
        session.lose(partly);
        if (!up.request().existing().mayBeReplaced()) {
          session.requireWhole();
        }
        replace(session, partly.reason(), up);
        yield true;
      }
      case Observation.Exists _, Observation.CannotTell _ -> false;
    };
  }

  /** Gives back what differs, if that was asked for. */
  boolean isReplaced(LiveSession session, UpCall up) throws InterruptedException {
    boolean differs = differs(session, up);
    if (differs) {
      replace(session, "", up);
    }
    return differs;
  }

  /**
   * Whether the session differs from the request.
   *
   * @throws GpushException unless it may be replaced and some backend could grant the request
   */
  boolean differs(LiveSession session, UpCall up) throws InterruptedException {
    Existing existing = up.request().existing();
    List<SessionFailure.Difference> differences =
        existing == Existing.TAKE_ANY ? List.of() : up.wish().differences(session.entry());
    if (differences.isEmpty()) {
      return false;
    }
    if (!existing.mayBeReplaced()) {
      throw new GpushException(new SessionFailure.Differs(session.name().text(), differences));
    }
    placement.requireSense(
        requests.intent(session.name(), up.config(), up.wish()), up.config(), up.wish());
    return true;
  }

  private void replace(LiveSession session, String reason, UpCall up) throws InterruptedException {
    session.requireOurs();
    endings
        .giveBackAsked(session, reason, up.consent(), up.talk())
        .kept()
        .forEach(path -> up.talk().say("kept, because gpush did not make it: " + path));
  }

  void attach(LiveSession session, UpCall up) throws InterruptedException {
    UpRequest request = up.request();
    Talk talk = up.talk();
    if (session.links().stream().anyMatch(link -> link.state() instanceof LinkState.Over)) {
      // The gang exists and the link is over: a new link is made.
      session.unlink();
    }
    Optional<AgentFailure.Superseded> other = session.superseded();
    if (other.isPresent() && request.existing() != Existing.TAKE_ANY) {
      take(session, other.get(), talk);
    }
    links.ensure(session, talk);
    if (session.entry().state() != SessionState.READY) {
      session.change(was -> was.in(SessionState.READY, ""));
      changed.run();
    }
    // A script's time limit applies when the gang is made, not when the script is used again.
    boolean isScripts =
        request.wanted().natives().stream().anyMatch(each -> each.startsWith("--time="));
    Optional<Duration> end = request.lease().hardEnd().filter(_ -> !isScripts);
    if (end.isPresent() || request.lease().idle().isPresent()) {
      renew(session, end, request.lease().idle());
    }
    PythonChange.apply(session, request, up.wish(), talk);
    if (request.existing() == Existing.TAKE_ANY) {
      return; // A run brings its files and its environment itself.
    }
    session.work().bring(false, talk);
    if (!session.entry().detail().isEmpty()) {
      // What the up before this one has left undone is done now.
      session.change(was -> was.in(SessionState.READY, ""));
    }
  }

  /**
   * Takes over the gang that a command waited for, if a gateway of this home on another machine has
   * linked it first, and no command took it there.
   *
   * @return whether another gateway had it, so that the session has to be looked at again
   */
  boolean takeIfElsewhere(LiveSession session, Talk talk) throws InterruptedException {
    if (session.superseded().isEmpty()) {
      return false;
    }
    try (TurnQueue.Turn _ = session.begin("up", talk)) {
      session
          .superseded()
          .filter(other -> other.term() <= session.entry().keeper().term())
          .ifPresent(other -> take(session, other, talk));
    }
    return true;
  }

  private void take(LiveSession session, AgentFailure.Superseded other, Talk talk) {
    talk.say("taking " + session.name() + " over from " + new Holder(other.holder()).words());
    session.takeFrom(other, identity.holder());
  }

  /** What {@link #renew} would set. A backend that hands out time itself may refuse more of it. */
  static Sessions.Extension extension(LiveSession session, Optional<Duration> hardEnd) {
    return new Sessions.Extension(
        hardEnd,
        session.entry().lease().idle(),
        hardEnd.isPresent() && session.backend().capabilities().hasQueue());
  }

  /** Limits that are not given stay as they are. */
  static void renew(LiveSession session, Optional<Duration> hardEnd, Optional<Duration> idle) {
    Duration newIdle = idle.orElse(session.entry().lease().idle());
    LeaseTerms change =
        hardEnd.isPresent() ? new LeaseTerms(hardEnd, newIdle) : LeaseTerms.ofIdleTime(newIdle);
    session.backend().renew(session.gang(), change);
    session.change(
        entry -> entry.leased(new LeaseTerms(hardEnd.or(entry.lease()::hardEnd), newIdle)));
  }
}
