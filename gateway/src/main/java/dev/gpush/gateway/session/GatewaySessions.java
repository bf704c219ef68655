package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.session.UpRequest.Existing;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.SessionReuse.UpCall;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.SessionFiles;
import dev.gpush.gateway.session.lifecycle.Adoption;
import dev.gpush.gateway.session.lifecycle.EndConsent;
import dev.gpush.gateway.session.lifecycle.PendingReleases;
import dev.gpush.gateway.session.lifecycle.PendingRequests;
import dev.gpush.gateway.session.lifecycle.QueuedIdleTime;
import dev.gpush.gateway.session.lifecycle.RequestFollowing;
import dev.gpush.gateway.session.lifecycle.SessionEndings;
import dev.gpush.gateway.session.lifecycle.UnknownGangs;
import dev.gpush.gateway.session.lifecycle.UnreportedFailures;
import dev.gpush.gateway.session.links.LinkMaker;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.PendingRequest;
import dev.gpush.gateway.session.live.SessionRegistry;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.gateway.session.live.SessionWorks;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.gateway.session.placement.AttachedPlacement;
import dev.gpush.gateway.session.placement.Placement;
import dev.gpush.gateway.session.placement.Preferences;
import dev.gpush.gateway.session.placement.RequestBuilder;
import dev.gpush.gateway.session.placement.ResolvedUp;
import dev.gpush.sync.git.GitPlaces;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * All sessions of this gateway.
 *
 * <p>{@code up} finds or creates the {@link LiveSession} under one short lock, takes its turn and,
 * if it is new, passes the turn to {@link PendingRequests}, which makes the session, and follows
 * that. The client may disconnect at any time; after a failure everything is undone before it is
 * reported.
 */
public final class GatewaySessions implements Sessions, AutoCloseable {
  private final Ledger ledger;
  private final Backends backends;
  private final Configs configs;
  private final SessionRegistry registry;
  private final RequestBuilder requests;
  private final AttachedPlacement attached;
  private final Placement placement;
  private final SessionEndings endings;
  private final SessionReuse reuse;
  private final UnreportedFailures ended;
  private final PendingRequests pending;
  private final RequestFollowing following;
  private final SessionLinks links;
  private final SessionViews views;
  private final Preferences preferences;
  private final UnknownGangs unknown;
  private final Adoption adoption;
  private final GatewayRuns runs;
  private final Recovery recovery;
  private final Clock clock;
  private final Tasks own;
  private final Runnable changed;

  /**
   * @param changed called on a command's thread whenever sessions come or go, for the ssh config
   */
  public GatewaySessions(
      GatewayIdentity identity,
      Backends backends,
      Configs configs,
      FabricPlans plans,
      AgentProgram agent,
      GitPlaces gitPlaces,
      SessionTiming timing,
      Clock clock,
      SecureRandom random,
      Tasks tasks,
      Runnable changed) {
    this.own = tasks.group("sessions");
    this.ledger = new Ledger(identity.home().resolve("ledger"));
    this.backends = backends;
    this.configs = configs;
    var files = new SessionFiles(identity.home());
    this.registry = new SessionRegistry(files, changed);
    this.requests = new RequestBuilder(identity, backends, clock, random);
    this.attached = new AttachedPlacement(requests);
    this.placement = new Placement(requests, backends, timing, clock, own);
    Duration pause = timing.observePause();
    var releases = new PendingReleases(backends, pause, own);
    this.endings = new SessionEndings(registry, releases, changed);
    this.links =
        new SessionLinks(
            new LinkMaker(agent, identity, timing.link(), clock, random, own),
            new SessionWorks(identity.home(), gitPlaces, configs, plans, clock, own),
            pause,
            own,
            endings::ended);
    this.views = new SessionViews(timing, clock, own);
    this.preferences = new Preferences(identity.home().resolve("folders"));
    this.ended = new UnreportedFailures(ledger);
    var idleTime = new QueuedIdleTime(clock);
    this.pending =
        new PendingRequests(
            placement,
            links,
            releases,
            endings,
            ended,
            preferences,
            configs,
            idleTime,
            pause,
            clock,
            own,
            changed);
    this.following = new RequestFollowing(clock);
    this.clock = clock;
    this.unknown = new UnknownGangs(identity, ledger, backends, configs);
    this.adoption = new Adoption(identity, unknown, backends, registry, ledger, requests, links);
    this.changed = changed;
    this.reuse = new SessionReuse(identity, requests, placement, endings, links, changed);
    this.runs = new GatewayRuns(this, links, clock, own);
    this.recovery =
        new Recovery(
            identity, ledger, backends, registry, files, links, releases, pending, idleTime, ended,
            timing, own, changed);
  }

  /** Starts the recovery of the last gateway's sessions; returns at once. */
  public void recover() {
    recovery.start();
  }

  public Runs runs() {
    return runs;
  }

  /** The nodes that ssh user names mean. */
  public SessionRoutes routes() {
    return new SessionRoutes(registry, links);
  }

  @Override
  public SessionView up(UpRequest request, Talk talk) throws InterruptedException {
    return find(request, talk).view();
  }

  /** A session, and how it was when it was found or made. */
  record Found(LiveSession session, SessionView view) {}

  Found find(UpRequest request, Talk talk) throws InterruptedException {
    return up(request, talk, _ -> false);
  }

  @Override
  public SessionView upDetached(UpRequest request, Talk talk) throws InterruptedException {
    return up(request, talk, LiveSession::isWaiting).view();
  }

  private Found up(UpRequest request, Talk talk, Predicate<LiveSession> isEnough)
      throws InterruptedException {
    Config config = configs.load(request.origin().folder());
    Optional<Found> found = Optional.empty();
    while (found.isEmpty()) {
      ResolvedUp wish = attached.of(request, config, preferences.wish(request, config));
      try (var consent = new EndConsent(request.existing() == Existing.REPLACE_AND_DISCARD, talk)) {
        found = upOnce(new UpCall(request, config, wish, consent, talk), isEnough);
      }
    }
    return found.get();
  }

  /** Empty when the session has to be looked for again. */
  private Optional<Found> upOnce(UpCall up, Predicate<LiveSession> isEnough)
      throws InterruptedException {
    Talk talk = up.talk();
    SessionRegistry.Entered entered = enter(up);
    LiveSession session = entered.session();
    if (entered.turn().isEmpty()) {
      return joined(session, up, isEnough)
          ? Optional.of(new Found(session, views.of(session, false)))
          : Optional.empty();
    }
    TurnQueue.Turn turn = entered.turn().get();
    if (entered.isNew()) {
      ended.take(up.config().root()).ifPresent(each -> following.sayEnded(each, talk));
      PendingRequest pending = this.pending.begin(session, turn, up.config(), up.wish(), talk);
      following.follow(session, pending, true, talk, isEnough);
      boolean isTaken = reuse.takeIfElsewhere(session, talk);
      return isTaken ? Optional.empty() : Optional.of(new Found(session, views.of(session, true)));
    }
    if (session.isWaiting() && !session.isOver()) {
      this.pending.resume(session, turn);
      return Optional.empty();
    }
    try (turn) {
      if (session.isOver()) {
        registry.remove(session);
        return Optional.empty();
      }
      session.requireUsable();
      if (reuse.hasEnded(session, up) || reuse.isReplaced(session, up)) {
        return Optional.empty();
      }
      reuse.attach(session, up);
      return Optional.of(new Found(session, views.of(session, false)));
    }
  }

  /** Follows the request that makes this session; false: the session must be checked again. */
  private boolean joined(LiveSession session, UpCall up, Predicate<LiveSession> isEnough)
      throws InterruptedException {
    Talk talk = up.talk();
    Optional<PendingRequest> pending = session.pending();
    if (pending.isEmpty()) {
      return false;
    }
    if (reuse.differs(session, up)) {
      RequestFollowing.giveUp(session, pending.get(), talk);
      return false;
    }
    if (session.isWaiting() && !isEnough.test(session)) {
      following.sayWaited(session, talk);
    }
    boolean isOwn = up.request().existing() != Existing.TAKE_ANY;
    boolean isReady = following.follow(session, pending.get(), isOwn, talk, isEnough);
    return !reuse.takeIfElsewhere(session, talk) && !isReady;
  }

  /** The session that was named, or this folder's, or a new one that no other command knows yet. */
  private SessionRegistry.Entered enter(UpCall up) throws InterruptedException {
    return registry.enter(
        up.request().name(),
        up.config().root(),
        there -> reuse.begin(there, up),
        name ->
            new LiveSession(
                requests.intent(name, up.config(), up.wish()),
                requests.candidates(up.config(), up.wish()).getFirst(),
                ledger,
                registry.changes()));
  }

  @Override
  public Outlook plan(UpRequest request) throws InterruptedException {
    Config config = configs.load(request.origin().folder());
    ResolvedUp asked = attached.of(request, config, preferences.wish(request, config));
    SessionName name = request.name().orElse(new SessionName("devbox"));
    Optional<LiveSession> waiting = registry.waiting(request.name(), config.root());
    ResolvedUp wish = waiting.map(session -> asked.over(session.entry())).orElse(asked);
    return placement.outlook(requests.intent(name, config, wish), config, wish);
  }

  @Override
  public Map<String, JobsAhead> ahead(SessionName name) throws InterruptedException {
    return placement.ahead(find(name));
  }

  @Override
  public List<SessionView> list() {
    return views.of(all());
  }

  /** The session of this name, or else of this folder, as long as it is ready. */
  Optional<LiveSession> ready(Optional<SessionName> name, Path root) {
    return registry
        .meant(name, root)
        .filter(session -> SessionViews.state(session) == SessionState.READY)
        .findFirst();
  }

  Optional<LiveSession> meant(Optional<SessionName> name, Path root) {
    return registry.meant(name, root).filter(session -> !session.isOver()).findFirst();
  }

  Runs.Pictures pictures() {
    return new SessionPictures(folder -> configs.load(folder).root(), registry, views);
  }

  @Override
  public SessionView choose(Optional<String> name, Path folder) {
    return views.of(find(name, folder), false);
  }

  /** As {@link #choose}, for the gateway's own use. */
  LiveSession find(Optional<String> name, Path folder) {
    return name.isPresent()
        ? find(SessionName.parse(name.get()))
        : registry.of(configs.load(folder).root());
  }

  public LiveSession find(SessionName name) {
    return registry.named(name);
  }

  /** Every session of this process, over or not. */
  List<LiveSession> all() {
    return registry.all();
  }

  @Override
  public GivenBack down(SessionName name, boolean discard, Talk talk) throws InterruptedException {
    return down(find(name), discard, talk).orElse(new GivenBack(List.of(), List.of()));
  }

  /** Empty if the session was over before its turn came. */
  Optional<GivenBack> down(LiveSession session, boolean discard, Talk talk)
      throws InterruptedException {
    return endings.down(session, discard, talk);
  }

  @Override
  public Ending ending(SessionName name, Talk talk) throws InterruptedException {
    return EndConsent.look(find(name), talk);
  }

  @Override
  public boolean giveUp(SessionName name, Talk talk) {
    return RequestFollowing.giveUp(find(name), talk);
  }

  @Override
  public List<EndedRequest> ended() {
    return ended.all();
  }

  Path root(Path folder) {
    return configs.load(folder).root();
  }

  @Override
  public SessionView extend(SessionName name, Optional<Duration> fromNow) {
    // Without a turn: what has it, a pull for one, may take longer than the lease.
    LiveSession session = usable(name);
    SessionReuse.renew(session, fromNow, Optional.empty());
    return views.of(session, false);
  }

  private LiveSession usable(SessionName name) {
    LiveSession session = withNodes(name);
    session.requireUsable();
    return session;
  }

  private LiveSession withNodes(SessionName name) {
    LiveSession session = find(name);
    session.requireNodes();
    return session;
  }

  @Override
  public Extension previewExtend(SessionName name, Optional<Duration> fromNow) {
    return SessionReuse.extension(usable(name), fromNow);
  }

  @Override
  public long sync(SessionName name, boolean overwrite, Talk talk) throws InterruptedException {
    LiveSession session = withNodes(name);
    try (TurnQueue.Turn _ = session.begin("sync", talk)) {
      links.ensure(session, talk);
      return session.work().bring(overwrite, talk);
    }
  }

  @Override
  public SyncView.Preview previewSync(SessionName name, boolean overwrite, Talk talk)
      throws InterruptedException {
    LiveSession session = reachable(name);
    links.ensure(session, talk);
    return session.work().preview(overwrite, talk);
  }

  @Override
  public long keep(SessionName name, KeepRequest request, Talk talk) throws InterruptedException {
    LiveSession session = withNodes(name);
    try (TurnQueue.Turn _ = session.begin("sync", talk)) {
      links.ensure(session, talk);
      return session.work().keep(request, talk);
    }
  }

  @Override
  public SyncView syncState(SessionName name) {
    return SessionViews.sync(find(name));
  }

  @Override
  public SyncView pauseSync(SessionName name) {
    withNodes(name).work().pauseSaves();
    return syncState(name);
  }

  @Override
  public SyncView resumeSync(SessionName name) {
    withNodes(name).work().resumeSaves();
    return syncState(name);
  }

  @Override
  public void pull(SessionName name, int node, String path, Talk talk) throws InterruptedException {
    LiveSession session = withNodes(name);
    try (TurnQueue.Turn _ = session.begin("pull", talk)) {
      session.requireUsable();
      links.ensure(session, List.of(node), talk);
      session.work().pull(node, path, talk);
    }
  }

  @Override
  public List<PortForward> forwards(SessionName name) {
    return find(name).workIfAny().map(work -> work.forwards().list()).orElse(List.of());
  }

  @Override
  public List<PortForward> forward(SessionName name, PortTarget target, Optional<Integer> local)
      throws InterruptedException {
    return reachable(name).work().forwards().add(target, local);
  }

  /** The session, linked: one that is just made or recovered is waited for. */
  private LiveSession reachable(SessionName name) throws InterruptedException {
    LiveSession session = usable(name);
    links.await(session, "link");
    return session;
  }

  @Override
  public String place(SessionName name, int node) throws InterruptedException {
    return EditorFolder.on(reachable(name), node);
  }

  @Override
  public int editNode(SessionName name) throws InterruptedException {
    return reachable(name).work().editNode();
  }

  @Override
  public Optional<PortForward> unforward(SessionName name, int local) {
    return find(name).workIfAny().flatMap(work -> work.forwards().remove(local));
  }

  @Override
  public List<Finding> doctor() {
    return new Doctor(ledger, backends, unknown, views, clock).findings(all());
  }

  @Override
  public List<Finding> endForgotten(Talk talk) throws InterruptedException {
    return new Doctor(ledger, backends, unknown, views, clock).end(all(), talk);
  }

  @Override
  public SessionView adopt(Optional<String> which, boolean take, Path folder, Talk talk)
      throws InterruptedException {
    Config config = configs.load(folder);
    LiveSession session = adoption.adopt(which, take, config, Preferences.idle(config), talk);
    changed.run();
    return views.of(session, false);
  }

  public boolean hasAny() {
    return !all().isEmpty();
  }

  /** Recovery and observers stop first; then links end; agents, runs and leases continue. */
  @Override
  public void close() {
    try {
      own.close();
    } finally {
      all().forEach(LiveSession::close);
    }
  }
}
