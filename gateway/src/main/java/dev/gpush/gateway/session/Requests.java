package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.LeaseTerms;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.time.Clock;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** From what somebody wishes to what a backend is asked for, and whether it can be. */
final class Requests {
  private final Identity identity;
  private final Backends backends;
  private final Clock clock;
  private final SecureRandom random;

  Requests(Identity identity, Backends backends, Clock clock, SecureRandom random) {
    this.identity = identity;
    this.backends = backends;
    this.clock = clock;
    this.random = random;
  }

  /** A new session's first entry, with a gang id that nobody has. */
  LedgerEntry intent(
      SessionName name, Config config, Wish wish, Backend backend, UpRequest request) {
    byte[] gang = new byte[8];
    byte[] id = new byte[6];
    random.nextBytes(gang);
    random.nextBytes(id);
    return new LedgerEntry(
        HexFormat.of().formatHex(id),
        name,
        GangId.of(gang),
        SessionState.ASKED,
        "",
        backend.name(),
        wish.nodes(),
        wish.gpus(),
        wish.hardEnd(),
        wish.idle(),
        wish.python(),
        config.root(),
        identity.owner(),
        identity.holder(),
        identity.host(),
        identity.boot(),
        clock.now(),
        LedgerEntry.FIRST_TERM,
        backend.inherited(request.environment()),
        Optional.empty());
  }

  GangRequest gang(LedgerEntry entry, Config config) {
    return new GangRequest(
        entry.gang(),
        entry.name().text(),
        entry.owner(),
        entry.holder(),
        project(config.root()),
        entry.nodes(),
        entry.gpus(),
        new LeaseTerms(entry.hardEnd(), entry.idle()),
        SessionEnvironment.base(config, entry),
        entry.inherit());
  }

  private static String project(Path root) {
    Path name = root.getFileName();
    return name == null ? "root" : name.toString();
  }

  /** In the order of the configuration; the one that was named, if one was. */
  List<Backend> candidates(Config config, Wish wish) {
    List<Backend> all = backends.of(config);
    if (wish.backend().isEmpty()) {
      return all;
    }
    String wanted = wish.backend().get();
    List<Backend> named = all.stream().filter(backend -> backend.name().equals(wanted)).toList();
    if (named.isEmpty()) {
      List<String> known = all.stream().map(Backend::name).toList();
      throw new GpushException(
          new BackendFailure.Unknown(wanted, known, Nearest.one(wanted, known)));
    }
    return named;
  }

  /** What would come of it on each backend; nothing is reserved. */
  Map<String, Plan> plans(UpRequest request, Config config, Wish wish) {
    var plans = new LinkedHashMap<String, Plan>();
    for (Backend backend : candidates(config, wish)) {
      SessionName name = request.name().orElse(new SessionName("devbox"));
      plans.put(
          backend.name(), backend.plan(gang(intent(name, config, wish, backend, request), config)));
    }
    return plans;
  }

  /** Fits at some time, if not now. */
  void requireSense(
      Backend backend, SessionName name, Config config, Wish wish, UpRequest request) {
    if (backend.plan(gang(intent(name, config, wish, backend, request), config))
        instanceof Plan.Never(var reason, var works)) {
      throw new GpushException(new BackendFailure.NeverFits(backend.name(), reason, works));
    }
  }

  static void requireFit(Backend backend, GangRequest asked) {
    switch (backend.plan(asked)) {
      case Plan.Never(var reason, var works) ->
          throw new GpushException(new BackendFailure.NeverFits(backend.name(), reason, works));
      case Plan.Later(var reason, _, var holders) -> {
        if (!backend.hasQueue()) {
          throw new GpushException(new BackendFailure.Taken(backend.name(), reason, holders));
        }
      }
      case Plan.Now _ -> {}
    }
  }
}
