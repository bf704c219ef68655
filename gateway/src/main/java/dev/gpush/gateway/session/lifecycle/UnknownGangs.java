package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Gangs of this owner that no session of this home has: those of another home, forgotten ones, and
 * those that live although their session counts as ended.
 */
public final class UnknownGangs {
  private final GatewayIdentity identity;
  private final Ledger ledger;
  private final Backends backends;
  private final Configs configs;

  public UnknownGangs(GatewayIdentity identity, Ledger ledger, Backends backends, Configs configs) {
    this.identity = identity;
    this.ledger = ledger;
    this.backends = backends;
    this.configs = configs;
  }

  /** A gang that exists and that no session of this home has. */
  public record Stranger(Backend backend, Discovered found) {
    public String what() {
      return "gang " + found.gang().id() + " on " + backend.name();
    }
  }

  /**
   * Only this home could renew its lease, and it does not know the gang. A gang of another home may
   * be in use.
   */
  public boolean isForgotten(Discovered found) {
    return found.owner().equals(identity.owner()) && identity.hasHeld(new Holder(found.holder()));
  }

  /** The gangs of one session, which may be in several queues. */
  public static List<String> gangs(LedgerEntry entry) {
    return Stream.concat(Stream.of(entry.gang()), entry.others().stream().map(Bid::gang))
        .map(GangId::text)
        .toList();
  }

  /**
   * Lists the gangs first, then reads the ledger: a request is in the ledger before its backend is
   * asked, so gangs that are being reserved meanwhile are known.
   *
   * @param known gangs that are not unknown; more are added
   * @param findings receives the backends that could not be asked
   */
  public List<Stranger> look(Set<String> known, List<Finding> findings) {
    Config config;
    try {
      config = configs.load(identity.home());
    } catch (GpushException invalid) {
      findings.add(
          Finding.bad(
                  "configuration",
                  "backends were not asked: " + FailureText.clause(invalid.failure()))
              .trying("gpush config"));
      return List.of();
    }
    return look(backends.of(config), known, findings);
  }

  List<Stranger> look(List<Backend> asked, Set<String> known, List<Finding> findings) {
    var there = new ArrayList<Stranger>();
    for (Backend backend : asked) {
      try {
        backend
            .discover(identity.owner())
            .forEach(found -> there.add(new Stranger(backend, found)));
      } catch (GpushException failed) {
        findings.add(
            Finding.warn(
                "backend " + backend.name(), "cannot list: " + SessionEndings.why(failed)));
      }
    }
    var over = new HashSet<String>();
    ledger.load().forEach(entry -> (entry.state().isOver() ? over : known).addAll(gangs(entry)));
    return there.stream()
        .filter(stranger -> !known.contains(stranger.found().gang().id().text()))
        .filter(
            stranger -> !over.contains(stranger.found().gang().id().text()) || isThere(stranger))
        .toList();
  }

  /** Looks once more: its session may have ended since the gangs were listed. */
  private static boolean isThere(Stranger stranger) {
    try {
      return switch (stranger.backend().observe(stranger.found().gang())) {
        case Observation.Exists _, Observation.Partly _ -> true;
        case Observation.Gone _, Observation.CannotTell _ -> false;
      };
    } catch (GpushException silent) {
      return false;
    }
  }
}
