package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.LeaseTerms;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.link.LinkState;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * All sessions of this gateway.
 *
 * <p>{@code up} in short: find or create the {@link LiveSession} under the one short lock; take its
 * turn; if it is new, write the intent, ask the backends in order, link, sync; whatever fails on
 * the way is undone before the failure is told.
 */
public final class GatewaySessions implements Sessions, AutoCloseable {
  /** What a release may take before it is called a leak. */
  private static final Duration RELEASE_LIMIT = Duration.ofSeconds(60);

  private final Identity identity;
  private final Ledger ledger;
  private final Backends backends;
  private final Configs configs;
  private final SessionLinks linker;
  private final SessionViews views;
  private final Preferences preferences;
  private final Clock clock;
  private final SecureRandom random;
  private final Runnable changed;

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock: live
  private final Map<SessionName, LiveSession> live = new LinkedHashMap<>();

  GatewaySessions(
      Identity identity,
      Ledger ledger,
      Backends backends,
      Configs configs,
      LinkMaker links,
      SessionLinks.WorkMaker works,
      Timing timing,
      SessionViews views,
      Preferences preferences,
      Clock clock,
      SecureRandom random,
      Tasks tasks,
      Runnable changed) {
    this.identity = identity;
    this.ledger = ledger;
    this.backends = backends;
    this.configs = configs;
    this.linker = new SessionLinks(links, works, timing.observePause(), tasks, this::ended);
    this.views = views;
    this.preferences = preferences;
    this.clock = clock;
    this.random = random;
    this.changed = changed;
  }

  @Override
  public SessionView up(UpRequest request, Talk talk) throws InterruptedException {
    Config config = configs.load(request.folder());
    while (true) {
      Wish wish = preferences.wish(request, config);
      Taken taken = take(request, config, wish, talk);
      LiveSession session = taken.session();
      try (LiveSession.Turn _ = taken.turn()) {
        if (taken.isNew()) {
          make(session, config, wish, talk);
          return views.of(session, true);
        }
        if (session.isOver()) {
          remove(session);
          continue;
        }
        session.requireUsable();
        if (wentAway(session, talk) || replaced(session, request, config, wish, talk)) {
          continue;
        }
        attach(session, request, talk);
        return views.of(session, false);
      }
    }
  }

  /** A gang that is not there any more is cleaned up and made again, because somebody asks. */
  private boolean wentAway(LiveSession session, Talk talk) throws InterruptedException {
    if (session.allUp()
        || !(session.backend().observe(session.whateverIsThere())
            instanceof Observation.Gone(var why))) {
      return false;
    }
    talk.say(session.name() + " was gone: " + why);
    giveBack(session, why, talk);
    return true;
  }

  /** Gives back what differs, if that was asked for; nothing is given back for what cannot be. */
  private boolean replaced(
      LiveSession session, UpRequest request, Config config, Wish wish, Talk talk)
      throws InterruptedException {
    List<SessionFailure.Difference> differences =
        request.attachOnly() ? List.of() : wish.differences(session.entry());
    if (differences.isEmpty()) {
      return false;
    }
    if (!request.replace()) {
      throw new GpushException(new SessionFailure.Differs(session.name().text(), differences));
    }
    Backend next = candidates(config, wish).getFirst();
    if (next.plan(gangRequest(intent(session.name(), config, wish, next, request), config))
        instanceof Plan.Never(var reason, var works)) {
      throw new GpushException(new BackendFailure.NeverFits(next.name(), reason, works));
    }
    if (!request.yes()) {
      confirmRuns(session, talk, "--yes");
    }
    giveBack(session, "", talk);
    return true;
  }

  private void attach(LiveSession session, UpRequest request, Talk talk)
      throws InterruptedException {
    if (session.links().stream().anyMatch(link -> link.state() instanceof LinkState.Over)) {
      // The gang is there and this link is not: a new one is made.
      session.unlink();
    }
    linker.ensure(session, talk);
    if (session.entry().state() != SessionState.READY) {
      session.move(session.entry().in(SessionState.READY, ""));
      changed.run();
    }
    if (request.hardEnd().isPresent()) {
      renew(session, request.hardEnd());
    }
    session.work().push(false, talk);
  }

  /** A session with its turn. */
  record Taken(LiveSession session, LiveSession.Turn turn, boolean isNew) {}

  /** The session that was named, or this folder's, or a new one that nobody has heard of yet. */
  private Taken take(UpRequest request, Config config, Wish wish, Talk talk)
      throws InterruptedException {
    Optional<LiveSession> found;
    lock.lock();
    try {
      found =
          request.name().isPresent()
              ? Optional.ofNullable(live.get(request.name().get()))
              : ofRoot(config.root());
      if (found.isEmpty()) {
        SessionName name = request.name().orElseGet(this::freeName);
        Backend first = candidates(config, wish).getFirst();
        var made = new LiveSession(intent(name, config, wish, first, request), first, ledger);
        var taken = new Taken(made, made.beginFirst("up"), true);
        live.put(name, made);
        return taken;
      }
    } finally {
      lock.unlock();
    }
    return new Taken(found.get(), found.get().begin("up", talk), false);
  }

  private LedgerEntry intent(
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
        backend.inherited(request.environment()),
        Optional.empty());
  }

  private void make(LiveSession session, Config config, Wish wish, Talk talk)
      throws InterruptedException {
    boolean isAsked = false;
    boolean isReady = false;
    try {
      wish.notes().forEach(talk::say);
      if (!wish.gpus().isNone()) {
        talk.say(wish.words() + " on " + session.backend().name());
      }
      GangRequest asked = gangRequest(session.entry(), config);
      requireFit(session.backend(), asked);
      session.move(session.entry());
      isAsked = true;
      Gang gang;
      try (Talk.Step _ =
          talk.step("reserving " + wish.words() + " on " + session.backend().name())) {
        gang = session.backend().reserve(asked);
      }
      session.move(session.entry().granted(gang));
      linker.connect(session, config, talk);
      session.work().push(false, talk);
      session.move(session.entry().in(SessionState.READY, ""));
      isReady = true;
    } finally {
      if (!isReady) {
        undo(session, isAsked);
      }
    }
    linker.observeSoon(session);
    preferences.remember(config.root(), wish);
    changed.run();
  }

  /**
   * Nothing reserved, nothing half-written: the gang is released whatever the reason was, then the
   * entry goes. The first failure is the one that is told.
   */
  private void undo(LiveSession session, boolean isAsked) {
    boolean isInterrupted = Thread.interrupted();
    boolean isGone = false;
    String why = "giving it back failed";
    try {
      session.close();
      if (isAsked) {
        session.backend().release(session.whateverIsThere(), RELEASE_LIMIT);
      }
      isGone = true;
    } catch (GpushException stillThere) {
      why = why(stillThere);
    } catch (InterruptedException again) {
      isInterrupted = true;
      why = "interrupted while giving it back";
    } finally {
      if (isGone) {
        session.forget();
        remove(session);
      } else {
        session.leak(why);
      }
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** What a ledger entry says of a failure; sentences for people are the shell's. */
  static String why(GpushException failed) {
    return switch (failed.failure()) {
      case BackendFailure.NotReleased(_, _, var reason) -> reason;
      case BackendFailure.Unavailable(_, var reason, _) -> reason;
      case Failure other -> other.toString();
    };
  }

  private GangRequest gangRequest(LedgerEntry entry, Config config) {
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

  private List<Backend> candidates(Config config, Wish wish) {
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

  private static void requireFit(Backend backend, GangRequest asked) {
    switch (backend.plan(asked)) {
      case Plan.Never(var reason, var works) ->
          throw new GpushException(new BackendFailure.NeverFits(backend.name(), reason, works));
      case Plan.Later(var reason, _, var holders) ->
          throw new GpushException(new BackendFailure.Taken(backend.name(), reason, holders));
      case Plan.Now _ -> {}
    }
  }

  @Override
  public Map<String, Plan> plan(UpRequest request) {
    Config config = configs.load(request.folder());
    Wish wish = preferences.wish(request, config);
    var plans = new LinkedHashMap<String, Plan>();
    for (Backend backend : candidates(config, wish)) {
      LedgerEntry asked =
          intent(request.name().orElse(new SessionName("devbox")), config, wish, backend, request);
      plans.put(backend.name(), backend.plan(gangRequest(asked, config)));
    }
    return plans;
  }

  @Override
  public List<SessionView> list() {
    return views.of(all());
  }

  @Override
  public SessionView choose(Optional<String> name, Path folder) {
    return views.of(find(name, folder), false);
  }

  /** As {@link #choose}, for the gateway's own use. */
  LiveSession find(Optional<String> name, Path folder) {
    if (name.isPresent()) {
      return find(SessionName.parse(name.get()));
    }
    Path root = configs.load(folder).root();
    lock.lock();
    try {
      Optional<LiveSession> here = ofRoot(root);
      if (here.isEmpty() && live.size() == 1) {
        return live.values().iterator().next();
      }
      if (here.isEmpty()) {
        throw new GpushException(new UsageFailure.WhichSession(names()));
      }
      return here.get();
    } finally {
      lock.unlock();
    }
  }

  LiveSession find(SessionName name) {
    lock.lock();
    try {
      LiveSession session = live.get(name);
      if (session == null) {
        throw new GpushException(
            new UsageFailure.UnknownSession(
                name.text(), Nearest.one(name.text(), names()).stream().toList(), names()));
      }
      return session;
    } finally {
      lock.unlock();
    }
  }

  /** Every session of this process, over or not. */
  List<LiveSession> all() {
    lock.lock();
    try {
      return List.copyOf(live.values());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<String> down(SessionName name, boolean discard, Talk talk)
      throws InterruptedException {
    LiveSession session = find(name);
    try (LiveSession.Turn _ = session.begin("down", talk)) {
      if (session.isOver()) {
        remove(session);
        return List.of();
      }
      if (!discard && session.entry().state() != SessionState.LEAKED) {
        confirmRuns(session, talk, "--discard");
      }
      return giveBack(session, "", talk);
    }
  }

  private static void confirmRuns(LiveSession session, Talk talk, String flag) {
    int running = session.workIfAny().map(SessionWork::runsInProgress).orElse(0);
    if (running > 0) {
      talk.confirm(
          running
              + (running == 1 ? " run is" : " runs are")
              + " in progress on "
              + session.name()
              + "; end and give back",
          flag);
    }
  }

  /**
   * Whoever calls it has the turn. Afterwards the session is over and out of the book, or it is
   * leaked and stays in it.
   *
   * @param reason why it ended by itself; empty when it was asked for
   */
  private List<String> giveBack(LiveSession session, String reason, Talk talk)
      throws InterruptedException {
    boolean isGone = false;
    String why = "giving it back failed";
    try (Talk.Step _ = talk.step("giving " + session.name() + " back")) {
      session
          .moveAnyway(session.entry().in(SessionState.RELEASING, reason))
          .ifPresent(problem -> talk.say("the ledger cannot be written: " + problem.getMessage()));
      changed.run();
      session.close();
      List<String> kept = session.backend().release(session.whateverIsThere(), RELEASE_LIMIT);
      isGone = true;
      return kept;
    } catch (GpushException failed) {
      why = why(failed);
      throw failed;
    } catch (InterruptedException stop) {
      why = "interrupted while giving it back";
      throw stop;
    } finally {
      if (isGone) {
        session.moveAnyway(session.entry().in(SessionState.RELEASED, reason));
        remove(session);
      } else {
        session.leak(why);
        changed.run();
      }
    }
  }

  Path root(Path folder) {
    return configs.load(folder).root();
  }

  SessionLinks linker() {
    return linker;
  }

  /**
   * The gang went away by itself (lease over, killed from outside): what is left of it is cleaned,
   * the session ends with the reason.
   */
  void ended(LiveSession session, String reason) throws InterruptedException {
    try (LiveSession.Turn _ = session.begin("clean-up", Talk.silent())) {
      if (!session.isOver() && !session.isClosed()) {
        giveBack(session, reason, Talk.silent());
      }
    } catch (GpushException leaked) {
      // The session says so wherever it is shown.
    }
  }

  @Override
  public SessionView extend(SessionName name, Optional<Duration> fromNow) {
    LiveSession session = find(name);
    try (LiveSession.Turn _ = session.begin("extend", Talk.silent())) {
      session.requireUsable();
      Optional<Duration> left = fromNow.or(() -> views.hardEndLeft(session));
      if (left.isEmpty() && session.entry().hardEnd().isPresent()) {
        // Renewing without it would take the hard end away.
        throw new GpushException(
            new SessionFailure.CannotExtend(
                name.text(), "node 0 does not say what is left of its time; give a new one"));
      }
      renew(session, left);
      return views.of(session, false);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(
          new SessionFailure.NotReached(name.text(), 0, session.entry().state().word()), stop);
    }
  }

  private static void renew(LiveSession session, Optional<Duration> hardEnd) {
    session.backend().renew(session.gang(), new LeaseTerms(hardEnd, session.entry().idle()));
    session.move(session.entry().ending(hardEnd));
  }

  @Override
  public long sync(SessionName name, boolean overwrite, Talk talk) throws InterruptedException {
    LiveSession session = find(name);
    try (LiveSession.Turn _ = session.begin("sync", talk)) {
      linker.ensure(session, talk);
      return session.work().push(overwrite, talk);
    }
  }

  @Override
  public void pull(SessionName name, int node, String path, Talk talk) throws InterruptedException {
    LiveSession session = find(name);
    try (LiveSession.Turn _ = session.begin("pull", talk)) {
      linker.ensure(session, talk);
      session.link(node);
      session.work().pull(node, path, talk);
    }
  }

  @Override
  public List<Finding> doctor() {
    return new Doctor(identity, ledger, backends, configs, views).findings(all());
  }

  /** Takes over what an earlier gateway left in the ledger; see {@link Recovery}. */
  Taken adopt(LedgerEntry entry, Backend backend) {
    Taken taken;
    lock.lock();
    try {
      boolean isFree = !live.containsKey(entry.name());
      LedgerEntry unique = isFree ? entry : entry.named(freeName());
      var session = new LiveSession(unique, backend, ledger);
      taken = new Taken(session, session.beginFirst("recovery"), false);
      live.put(session.name(), session);
    } finally {
      lock.unlock();
    }
    if (!taken.session().name().equals(entry.name())) {
      taken.session().moveAnyway(taken.session().entry());
    }
    return taken;
  }

  /** A session that recovery found over. */
  void drop(LiveSession session) {
    remove(session);
  }

  private void remove(LiveSession session) {
    lock.lock();
    try {
      live.remove(session.name(), session);
    } finally {
      lock.unlock();
    }
    changed.run();
  }

  // holds lock
  private Optional<LiveSession> ofRoot(Path root) {
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

  /** Closes links and work; gangs and runs stay. */
  @Override
  public void close() {
    for (LiveSession session : all()) {
      session.close();
    }
  }
}
