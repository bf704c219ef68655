package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.LeaseTerms;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.Outlook;
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
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * All sessions of this gateway.
 *
 * <p>{@code up} in short: find or create the {@link LiveSession} under the one short lock; take its
 * turn; if it is new, hand the turn to {@link PendingRequests}, which makes it, and follow that.
 * The client may leave it at any time; whatever fails on the way is undone before the failure is
 * told.
 */
public final class GatewaySessions implements Sessions, AutoCloseable {
  private final Identity identity;
  private final Ledger ledger;
  private final Backends backends;
  private final Configs configs;
  private final SessionFiles files;
  private final SessionBook book;
  private final Requests requests;
  private final Borrowing borrowing;
  private final Placement placement;
  private final Leftovers leftovers;
  private final Endings endings;
  private final EndedRequests ended;
  private final PendingRequests pending;
  private final RequestFollowing following;
  private final SessionLinks linker;
  private final SessionViews views;
  private final Preferences preferences;
  private final Strangers strangers;
  private final Adoption adoption;
  private final Clock clock;
  private final Runnable changed;

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
    this.files = new SessionFiles(identity.home());
    this.book = new SessionBook(files, changed);
    this.requests = new Requests(identity, backends, clock, random);
    this.borrowing = new Borrowing(requests);
    this.placement = new Placement(requests, backends, timing, clock, tasks);
    this.leftovers = new Leftovers(backends, timing.observePause(), tasks);
    this.endings = new Endings(book, leftovers, changed);
    this.linker = new SessionLinks(links, works, timing.observePause(), tasks, endings::ended);
    this.views = views;
    this.preferences = preferences;
    this.ended = new EndedRequests(ledger);
    this.pending =
        new PendingRequests(
            placement,
            linker,
            leftovers,
            endings,
            ended,
            preferences,
            configs,
            timing.observePause(),
            tasks,
            changed);
    this.following = new RequestFollowing(clock);
    this.clock = clock;
    this.strangers = new Strangers(identity, ledger, backends, configs);
    this.adoption = new Adoption(identity, strangers, backends, book, ledger, requests, linker);
    this.changed = changed;
  }

  @Override
  public SessionView up(UpRequest request, Talk talk) throws InterruptedException {
    return up(request, talk, _ -> false);
  }

  @Override
  public SessionView upDetached(UpRequest request, Talk talk) throws InterruptedException {
    return up(request, talk, LiveSession::isWaiting);
  }

  /**
   * @param isEnough when the caller need not wait any longer for a session that is being made
   */
  private SessionView up(UpRequest request, Talk talk, Predicate<LiveSession> isEnough)
      throws InterruptedException {
    Config config = configs.load(request.folder());
    ConfiguredOutputs.requireSupported(config);
    while (true) {
      Wish wish = borrowing.of(request, config, preferences.wish(request, config));
      SessionBook.Entered entered = enter(request, config, wish, talk);
      LiveSession session = entered.session();
      if (entered.turn().isEmpty()) {
        if (joined(session, request, config, wish, talk, isEnough)) {
          return views.of(session, false);
        }
        continue;
      }
      TurnQueue.Turn turn = entered.turn().get();
      if (entered.isNew()) {
        ended.take(config.root()).ifPresent(each -> following.sayEnded(each, talk));
        PendingRequest pending = this.pending.begin(session, turn, config, wish, request, talk);
        following.follow(session, pending, true, talk, isEnough);
        return views.of(session, true);
      }
      if (session.isWaiting() && !session.isOver()) {
        this.pending.resume(session, turn);
        continue;
      }
      try (turn) {
        if (session.isOver()) {
          book.remove(session);
          continue;
        }
        session.requireUsable();
        if (wentAway(session, request, talk) || replaced(session, request, config, wish, talk)) {
          continue;
        }
        attach(session, request, wish, talk);
        return views.of(session, false);
      }
    }
  }

  /**
   * Waits with the request that this session has under way.
   *
   * @return whether the caller has seen enough; false: the session is to be looked at again
   */
  private boolean joined(
      LiveSession session,
      UpRequest request,
      Config config,
      Wish wish,
      Talk talk,
      Predicate<LiveSession> isEnough)
      throws InterruptedException {
    Optional<PendingRequest> pending = session.pending();
    if (pending.isEmpty()) {
      return false;
    }
    if (differs(session, request, config, wish)) {
      RequestFollowing.giveUp(session, pending.get(), talk);
      return false;
    }
    if (session.isWaiting() && !isEnough.test(session)) {
      following.sayWaited(session, talk);
    }
    return !following.follow(session, pending.get(), !request.attachOnly(), talk, isEnough);
  }

  /**
   * A gang that is not there any more is cleaned up and made again, because somebody asks; one that
   * is half there only if it may be replaced.
   */
  private boolean wentAway(LiveSession session, UpRequest request, Talk talk)
      throws InterruptedException {
    if (session.allUp()) {
      return false;
    }
    return switch (session.backend().observe(session.whateverIsThere())) {
      case Observation.Gone(var why) -> {
        talk.say(session.name() + " was gone: " + why);
        endings.giveBack(session, why, talk);
        yield true;
      }
      case Observation.Partly partly -> {
        session.lose(partly);
        if (!request.replace()) {
          session.requireWhole();
        }
        replace(session, partly.reason(), request, talk);
        yield true;
      }
      case Observation.Exists _, Observation.CannotTell _ -> false;
    };
  }

  /** Gives back what differs, if that was asked for. */
  private boolean replaced(
      LiveSession session, UpRequest request, Config config, Wish wish, Talk talk)
      throws InterruptedException {
    if (!differs(session, request, config, wish)) {
      return false;
    }
    replace(session, "", request, talk);
    return true;
  }

  /**
   * Whether something else was asked for than the session is.
   *
   * @throws GpushException unless it may be replaced by what can be had
   */
  private boolean differs(LiveSession session, UpRequest request, Config config, Wish wish)
      throws InterruptedException {
    List<SessionFailure.Difference> differences =
        request.attachOnly() ? List.of() : wish.differences(session.entry(), request.natives());
    if (differences.isEmpty()) {
      return false;
    }
    if (!request.replace()) {
      throw new GpushException(new SessionFailure.Differs(session.name().text(), differences));
    }
    placement.requireSense(intent(session.name(), config, wish, request), request, config, wish);
    return true;
  }

  private void replace(LiveSession session, String reason, UpRequest request, Talk talk)
      throws InterruptedException {
    endings
        .giveBackAsked(session, reason, request.discard(), talk)
        .kept()
        .forEach(path -> talk.say("kept, because it is not gpush's: " + path));
  }

  private void attach(LiveSession session, UpRequest request, Wish wish, Talk talk)
      throws InterruptedException {
    if (session.links().stream().anyMatch(link -> link.state() instanceof LinkState.Over)) {
      // The gang is there and this link is not: a new one is made.
      session.unlink();
    }
    Optional<AgentFailure.Superseded> other = session.superseded();
    if (other.isPresent() && !request.attachOnly()) {
      String holder = new Holder(other.get().holder()).words();
      talk.say("taking " + session.name() + " over from " + holder);
      session.takeFrom(other.get(), identity.holder());
    }
    linker.ensure(session, talk);
    if (session.entry().state() != SessionState.READY) {
      session.move(session.entry().in(SessionState.READY, ""));
      changed.run();
    }
    // A script says how long a gang is to be when it is made, each time that it is read.
    boolean isScripts = request.natives().stream().anyMatch(each -> each.startsWith("--time="));
    Optional<Duration> end = request.hardEnd().filter(_ -> !isScripts);
    if (end.isPresent() || request.idle().isPresent()) {
      renew(session, end, request.idle());
    }
    PythonChange.apply(session, request, wish, talk);
    session.work().push(false, talk);
  }

  /** The session that was named, or this folder's, or a new one that nobody has heard of yet. */
  private SessionBook.Entered enter(UpRequest request, Config config, Wish wish, Talk talk)
      throws InterruptedException {
    return book.enter(
        request.name(),
        config.root(),
        name ->
            new LiveSession(
                intent(name, config, wish, request),
                requests.candidates(config, wish).getFirst(),
                ledger),
        talk);
  }

  /** At the first backend that may be asked; which one it is to be is found out later. */
  private LedgerEntry intent(SessionName name, Config config, Wish wish, UpRequest request) {
    Backend first = requests.candidates(config, wish).getFirst();
    return requests.intent(name, config, wish, first, request);
  }

  @Override
  public Outlook plan(UpRequest request) throws InterruptedException {
    Config config = configs.load(request.folder());
    ConfiguredOutputs.requireSupported(config);
    Wish wish = borrowing.of(request, config, preferences.wish(request, config));
    SessionName name = request.name().orElse(new SessionName("devbox"));
    return placement.outlook(intent(name, config, wish, request), request, config, wish);
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
    return name.isPresent()
        ? find(SessionName.parse(name.get()))
        : book.of(configs.load(folder).root());
  }

  LiveSession find(SessionName name) {
    return book.named(name);
  }

  /** Every session of this process, over or not. */
  List<LiveSession> all() {
    return book.all();
  }

  @Override
  public GivenBack down(SessionName name, boolean discard, Talk talk) throws InterruptedException {
    LiveSession session = find(name);
    Optional<TurnQueue.Turn> turn = session.beginOrJoin("down", talk);
    while (turn.isEmpty()) {
      session.pending().ifPresent(pending -> RequestFollowing.giveUp(session, pending, talk));
      turn = session.beginOrJoin("down", talk);
    }
    try (TurnQueue.Turn _ = turn.get()) {
      if (session.isOver()) {
        book.remove(session);
        return new GivenBack(List.of(), List.of());
      }
      requireOurs(session);
      return endings.giveBackAsked(session, "", discard, talk);
    }
  }

  @Override
  public boolean giveUp(SessionName name, Talk talk) {
    LiveSession session = find(name);
    Optional<PendingRequest> pending = session.pending();
    pending.ifPresent(each -> RequestFollowing.giveUp(session, each, talk));
    return pending.isPresent();
  }

  @Override
  public List<EndedRequest> ended() {
    return ended.all();
  }

  private static void requireOurs(LiveSession session) {
    session
        .superseded()
        .ifPresent(
            other -> {
              throw new GpushException(other);
            });
  }

  Path root(Path folder) {
    return configs.load(folder).root();
  }

  SessionLinks linker() {
    return linker;
  }

  @Override
  public SessionView extend(SessionName name, Optional<Duration> fromNow) {
    LiveSession session = find(name);
    session.requireNodes();
    try (TurnQueue.Turn _ = session.begin("extend", Talk.silent())) {
      session.requireUsable();
      renew(session, fromNow, Optional.empty());
      return views.of(session, false);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(
          new SessionFailure.NotReached(name.text(), 0, session.entry().state().word()), stop);
    }
  }

  /** What is not said stays as it is. */
  private static void renew(
      LiveSession session, Optional<Duration> hardEnd, Optional<Duration> idle) {
    Duration newIdle = idle.orElse(session.entry().idle());
    LeaseTerms change =
        hardEnd.isPresent() ? new LeaseTerms(hardEnd, newIdle) : LeaseTerms.ofIdleTime(newIdle);
    session.backend().renew(session.gang(), change);
    LedgerEntry entry = session.entry();
    session.move(entry.leased(new LeaseTerms(hardEnd.or(entry::hardEnd), newIdle)));
  }

  @Override
  public long sync(SessionName name, boolean overwrite, Talk talk) throws InterruptedException {
    LiveSession session = find(name);
    session.requireNodes();
    try (TurnQueue.Turn _ = session.begin("sync", talk)) {
      linker.ensure(session, talk);
      return session.work().push(overwrite, talk);
    }
  }

  @Override
  public void pull(SessionName name, int node, String path, Talk talk) throws InterruptedException {
    LiveSession session = find(name);
    session.requireNodes();
    try (TurnQueue.Turn _ = session.begin("pull", talk)) {
      session.requireUsable();
      linker.ensure(session, List.of(node), talk);
      session.work().pull(node, path, talk);
    }
  }

  @Override
  public List<Finding> doctor() {
    return new Doctor(ledger, backends, strangers, views, clock).findings(all());
  }

  @Override
  public List<Finding> endForgotten(Talk talk) throws InterruptedException {
    return new Doctor(ledger, backends, strangers, views, clock).end(all(), talk);
  }

  @Override
  public SessionView adopt(Optional<String> which, boolean take, Path folder, Talk talk)
      throws InterruptedException {
    Config config = configs.load(folder);
    Duration idle = Preferences.idle(config);
    LiveSession session = adoption.adopt(which, take, config, idle, talk);
    changed.run();
    return views.of(session, false);
  }

  Leftovers leftovers() {
    return leftovers;
  }

  /** Those that are being made. */
  PendingRequests pending() {
    return pending;
  }

  /** What an earlier gateway has found out while nobody was there to hear it. */
  EndedRequests endedRequests() {
    return ended;
  }

  /** Takes over what an earlier gateway left in the ledger; see {@link Recovery}. */
  SessionBook.Taken adopt(LedgerEntry entry, Backend backend) {
    return book.adopt(entry, backend, ledger);
  }

  /** What an earlier gateway had no time to clean after a session that is over. */
  void clean(LedgerEntry entry) {
    files.forget(entry);
  }

  /** A session that recovery found over. */
  void drop(LiveSession session) {
    book.remove(session);
  }

  /** Closes links and work; gangs and runs stay. */
  @Override
  public void close() {
    for (LiveSession session : all()) {
      session.close();
    }
  }
}
