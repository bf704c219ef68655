package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionRegistry;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.gateway.session.placement.RequestBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Makes a session from an existing gang: one that another home of the same owner has, because its
 * laptop was lost or sleeps, or one whose ledger was lost here. Nothing is reserved and no file is
 * sent; a failure leaves the gang as it was.
 */
public final class Adoption {
  private final GatewayIdentity identity;
  private final UnknownGangs unknown;
  private final Backends backends;
  private final SessionRegistry registry;
  private final Ledger ledger;
  private final RequestBuilder requests;
  private final SessionLinks links;

  public Adoption(
      GatewayIdentity identity,
      UnknownGangs unknown,
      Backends backends,
      SessionRegistry registry,
      Ledger ledger,
      RequestBuilder requests,
      SessionLinks links) {
    this.identity = identity;
    this.unknown = unknown;
    this.backends = backends;
    this.registry = registry;
    this.ledger = ledger;
    this.requests = requests;
    this.links = links;
  }

  /**
   * Takes a session over: on return this home holds its gang and its nodes are linked.
   *
   * @param which the session's name, or the gang's id; empty: the only one
   * @param take also from another home, which may still be using it
   * @param idle its idle time, if its nodes have none
   */
  public LiveSession adopt(
      Optional<String> which, boolean take, Config config, Duration idle, Talk talk)
      throws InterruptedException {
    UnknownGangs.Stranger stranger;
    try (Talk.Step _ = talk.step("asking the backends for it")) {
      stranger = choose(which, config);
    }
    Discovered found = stranger.found();
    if (!take && !unknown.isForgotten(found)) {
      throw new GpushException(
          new SessionFailure.HeldElsewhere(found.session(), words(found), which.isPresent()));
    }
    requireWhole(stranger);
    LedgerEntry entry =
        requests.adopted(
            SessionName.parse(found.session()), config, stranger.backend(), found.gang(), idle);
    Backend there = entry.reservation().first().at(stranger.backend());
    SessionRegistry.Taken taken = registry.adopt(entry, there, ledger);
    LiveSession session = taken.session();
    try (TurnQueue.Turn _ = taken.turn()) {
      boolean isOurs = false;
      try {
        session.change(was -> was);
        connect(session, config, talk);
        isOurs = true;
      } finally {
        if (!isOurs) {
          // The gang stays with its holder; this home removes its entry.
          session.unlink();
          session.forget();
          registry.remove(session);
        }
      }
      LedgerEntry leased = leased(session);
      session.change(_ -> leased.in(SessionState.READY, ""));
    }
    links.restoreLease(session);
    links.observeSoon(session);
    return session;
  }

  private UnknownGangs.Stranger choose(Optional<String> which, Config config) {
    var problems = new ArrayList<Finding>();
    List<UnknownGangs.Stranger> all = unknown.look(backends.of(config), new HashSet<>(), problems);
    Predicate<UnknownGangs.Stranger> isMeant =
        stranger ->
            which.isEmpty()
                || stranger.found().session().equals(which.get())
                || stranger.found().gang().id().text().equals(which.get());
    List<UnknownGangs.Stranger> meant = all.stream().filter(isMeant).toList();
    if (meant.size() == 1) {
      return meant.getFirst();
    }
    throw new GpushException(
        new UsageFailure.WhichGang(
            which.orElse(""),
            (meant.isEmpty() ? all : meant)
                .stream()
                    .map(
                        stranger ->
                            new UsageFailure.Adoptable(
                                stranger.found().gang().id().text(),
                                stranger.found().session(),
                                stranger.backend().name(),
                                words(stranger.found())))
                    .toList(),
            problems.stream().map(finding -> finding.what() + " " + finding.detail()).toList()));
  }

  private static String words(Discovered found) {
    return new Holder(found.holder()).words();
  }

  private static void requireWhole(UnknownGangs.Stranger stranger) {
    Discovered found = stranger.found();
    if (!found.complete()) {
      Backend backend = stranger.backend();
      throw new GpushException(
          new SessionFailure.CannotAdopt(
              found.session(),
              backend.capabilities().hasQueue()
                  ? "it is still waiting for its nodes on " + backend.name()
                  : "some of its nodes no longer exist on " + backend.name()));
    }
  }

  private void connect(LiveSession session, Config config, Talk talk) throws InterruptedException {
    try {
      links.connect(session, config, talk);
    } catch (GpushException refused) {
      if (!(refused.failure() instanceof AgentFailure.Superseded other)) {
        throw refused;
      }
      // Agents decide by the term; whether it may be taken was checked above.
      session.takeFrom(other, identity.holder());
      links.connect(session, config, talk);
    }
  }

  /** The entry with the present lease, as node 0 reports it. */
  private static LedgerEntry leased(LiveSession session) throws InterruptedException {
    LedgerEntry entry = session.entry();
    Json status = session.link(0).call("status", Json.object());
    Optional<Duration> idle =
        status
            .real("idle_left_s")
            .flatMap(left -> status.real("idle_for_s").map(since -> left + since))
            .map(seconds -> Duration.ofSeconds(Math.round(seconds)));
    return entry.leased(
        new LeaseTerms(
            status.number("hard_left_s").map(Duration::ofSeconds),
            idle.orElse(entry.lease().idle())));
  }
}
