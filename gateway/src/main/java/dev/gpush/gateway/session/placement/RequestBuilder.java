package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Clock;
import dev.gpush.core.text.Nearest;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.Reservation;
import dev.gpush.gateway.session.live.ConfiguredData;
import dev.gpush.gateway.session.live.SessionEnvironment;
import dev.gpush.gateway.session.saves.EditNode;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Makes the requests to backends, and selects the backends to ask. */
public final class RequestBuilder {
  private final GatewayIdentity identity;
  private final Backends backends;
  private final Clock clock;
  private final SecureRandom random;

  public RequestBuilder(
      GatewayIdentity identity, Backends backends, Clock clock, SecureRandom random) {
    this.identity = identity;
    this.backends = backends;
    this.clock = clock;
    this.random = random;
  }

  /**
   * A new session's first entry, with a new gang id, for the first backend that may be asked; the
   * choice is made later.
   *
   * @throws GpushException when the node where people are to edit is none of those asked for
   */
  public LedgerEntry intent(SessionName name, Config config, ResolvedUp wish) {
    EditNode.of(config).require(wish.nodes());
    return intent(name, config, wish, candidates(config, wish).getFirst());
  }

  private LedgerEntry intent(SessionName name, Config config, ResolvedUp wish, Backend backend) {
    Map<String, String> inherit = backend.capabilities().inherited(wish.environment());
    var session =
        new LedgerEntry.Identity(RandomHex.of(random, 6), name, config.root(), clock.now());
    var keeper =
        new LedgerEntry.Keeper(identity.owner(), identity.holder(), LedgerEntry.FIRST_TERM);
    return new LedgerEntry(
        session,
        keeper,
        wish.asked(),
        wish.lease(),
        Reservation.of(backend.name(), GangId.random(random), inherit),
        LedgerEntry.Status.begun());
  }

  /**
   * The first entry for a gang that another home has requested, or that this home has forgotten.
   */
  public LedgerEntry adopted(
      SessionName name, Config config, Backend backend, Gang gang, Duration idle) {
    var wish =
        new ResolvedUp(
            List.of(backend.name()),
            new LedgerEntry.Asked(
                gang.nodes().size(),
                GpuRequest.of(gang.nodes().getFirst()),
                Optional.empty(),
                List.of(),
                Optional.empty()),
            new LedgerEntry.Lease(Optional.empty(), idle),
            Set.of(),
            List.of(),
            Map.of());
    LedgerEntry entry = intent(name, config, wish, backend);
    Bid bid = Bid.of(backend, gang.id()).priced(price(config, backend.name(), entry));
    return entry.with(entry.reservation().only(bid)).granted(gang).foreign(true);
  }

  GangRequest gang(LedgerEntry entry, Config config) {
    return new GangRequest(
        entry.gang(),
        new Requester(
            entry.keeper().owner(),
            entry.keeper().holder().text(),
            entry.name().text(),
            project(config.root())),
        entry.asked().nodes(),
        entry.gpus(),
        new LeaseTerms(entry.lease().hardEnd(), entry.lease().idle(), warnings(config)),
        new GangRequest.Variables(
            SessionEnvironment.base(config, entry), entry.reservation().inherit()),
        new GangRequest.Options(
            entry.asked().natives(),
            config.text("image"),
            entry.asked().attach(),
            ConfiguredData.of(config, entry.keeper().owner()).mounted()));
  }

  private static List<Duration> warnings(Config config) {
    return config.value("lease.warn").map(LeaseTerms::lengths).orElse(List.of());
  }

  private static String project(Path root) {
    Path name = root.getFileName();
    return name == null ? "root" : name.toString();
  }

  /** The price of the whole gang for an hour. */
  static Optional<Double> price(Config config, String backend, LedgerEntry entry) {
    String model = entry.gpus().model().orElse("").toLowerCase(Locale.ROOT);
    return config.backends().stream()
        .filter(block -> block.name().equals(backend))
        .map(BackendConfig::values)
        .flatMap(values -> values.object("price").entries().entrySet().stream())
        .filter(price -> price.getKey().toLowerCase(Locale.ROOT).equals(model))
        .flatMap(price -> price.getValue().asReal().stream())
        .findFirst()
        .map(each -> each * entry.asked().nodes() * entry.gpus().count());
  }

  /** A bid for one more backend, with a new gang id. */
  Bid bid(Backend backend) {
    return Bid.of(backend, GangId.random(random));
  }

  /**
   * The backends that may be asked: those that were named, in that order, else those of the
   * configuration. This machine is not asked for GPUs or an image unless it is named, or is the
   * only backend.
   */
  public List<Backend> candidates(Config config, ResolvedUp wish) {
    if (!wish.backends().isEmpty()) {
      return wish.backends().stream().map(name -> named(config, name)).toList();
    }
    List<Backend> all = backends.of(config);
    if (wish.gpus().isNone() && config.text("image").isEmpty()) {
      return all;
    }
    List<Backend> others = all.stream().filter(each -> isSubstitute(each, config, wish)).toList();
    return others.isEmpty() ? all : others;
  }

  /** This machine is none for a backend that failed, unless the user named it. */
  static boolean isSubstitute(Backend backend, Config config, ResolvedUp wish) {
    return !backend.kind().equals("local") || !wish.backends().isEmpty() || config.isOrdered();
  }

  private Backend named(Config config, String wanted) {
    return backends.of(config).stream()
        .filter(backend -> backend.name().equals(wanted))
        .findFirst()
        .or(() -> backends.named(wanted))
        .orElseThrow(
            () -> {
              List<String> known = config.backends().stream().map(BackendConfig::name).toList();
              return new GpushException(
                  new BackendFailure.Unknown(wanted, known, Nearest.one(wanted, known)));
            });
  }
}
