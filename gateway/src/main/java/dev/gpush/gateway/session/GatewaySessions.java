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

/**
 * All sessions of this gateway.
 *
 * <p>{@code up} in short: find or create the {@link LiveSession} under the one short lock; take its
 * turn; if it is new, let {@link Placement} get the gang, link, sync; whatever fails on the way is
 * undone before the failure is told.
 */
public final class GatewaySessions implements Sessions, AutoCloseable {
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
    this.clock = clock;
    this.strangers = new Strangers(identity, ledger, backends, configs);
    this.adoption = new Adoption(strangers, backends, book, ledger, requests, linker);
    this.changed = changed;
  }

  @Override
  public SessionView up(UpRequest request, Talk talk) throws InterruptedException {
    Config config = configs.load(request.folder());
    while (true) {
      Wish wish = borrowing.of(request, config, preferences.wish(request, config));
      SessionBook.Taken taken = take(request, config, wish, talk);
      LiveSession session = taken.session();
      try (LiveSession.Turn _ = taken.turn()) {
        if (taken.isNew()) {
          make(session, config, wish, request, talk);
          return views.of(session, true);
        }
        if (session.isOver()) {
          book.remove(session);
          continue;
        }
        session.requireUsable();
        if (session.isWaiting()) {
          make(session, config, wish, request, talk);
          return views.of(session, true);
        }
        if (wentAway(session, request, talk) || replaced(session, request, config, wish, talk)) {
          continue;
        }
        attach(session, request, wish, talk);
        return views.of(session, false);
      }
    }
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
        if (!request.yes()) {
          Endings.confirmRuns(session, talk, "--yes");
          Alone.confirm(session, talk, "--yes");
        }
        endings.giveBack(session, partly.reason(), talk);
        yield true;
      }
      case Observation.Exists _, Observation.CannotTell _ -> false;
    };
  }

  /** Gives back what differs, if that was asked for; nothing is given back for what cannot be. */
  private boolean replaced(
      LiveSession session, UpRequest request, Config config, Wish wish, Talk talk)
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
    if (!request.yes()) {
      Endings.confirmRuns(session, talk, "--yes");
      Alone.confirm(session, talk, "--yes");
    }
    endings.giveBack(session, "", talk);
    return true;
  }

  private void attach(LiveSession session, UpRequest request, Wish wish, Talk talk)
      throws InterruptedException {
    if (session.links().stream().anyMatch(link -> link.state() instanceof LinkState.Over)) {
      // The gang is there and this link is not: a new one is made.
      session.unlink();
    }
    Optional<AgentFailure.Superseded> other = session.superseded();
    if (other.isPresent() && !request.attachOnly()) {
      talk.say("taking " + session.name() + " over from " + other.get().holder());
      session.takeFrom(other.get());
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
      renew(session, end.or(() -> left(session)), request.idle());
    }
    PythonChange.apply(session, request, wish, talk);
    session.work().push(false, talk);
  }

  /** The session that was named, or this folder's, or a new one that nobody has heard of yet. */
  private SessionBook.Taken take(UpRequest request, Config config, Wish wish, Talk talk)
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

  private void make(LiveSession session, Config config, Wish wish, UpRequest request, Talk talk)
      throws InterruptedException {
    Placement.Taking taking = placement.taking(session, config, wish, request, talk);
    boolean isReady = false;
    try {
      wish.notes().forEach(talk::say);
      taking.take();
      if (session.gang().isBorrowed()) {
        talk.say("its nodes are " + session.gang().detail() + ": they stay when it is given back");
      }
      linker.connect(session, config, talk);
      session.work().push(false, talk);
      session.move(session.entry().in(SessionState.READY, ""));
      isReady = true;
    } finally {
      if (!isReady) {
        taking.end();
        endings.undo(session, taking.hasAsked());
      }
    }
    leftovers.sweepSoon(session, taking::end);
    linker.observeSoon(session);
    preferences.remember(config.root(), wish);
    changed.run();
  }

  @Override
  public Outlook plan(UpRequest request) throws InterruptedException {
    Config config = configs.load(request.folder());
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
    try (LiveSession.Turn _ = session.begin("down", talk)) {
      if (session.isOver()) {
        book.remove(session);
        return new GivenBack(List.of(), List.of());
      }
      requireOurs(session);
      if (!discard && session.entry().state() != SessionState.LEAKED) {
        Endings.confirmRuns(session, talk, "--yes");
        Alone.confirm(session, talk, "--discard");
      }
      return endings.giveBack(session, "", talk);
    }
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
    try (LiveSession.Turn _ = session.begin("extend", Talk.silent())) {
      session.requireUsable();
      renew(session, fromNow.or(() -> left(session)), Optional.empty());
      return views.of(session, false);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(
          new SessionFailure.NotReached(name.text(), 0, session.entry().state().word()), stop);
    }
  }

  /** Renewing without it would take the hard end away. */
  private Optional<Duration> left(LiveSession session) {
    Optional<Duration> left = views.hardEndLeft(session);
    if (left.isEmpty() && session.entry().hardEnd().isPresent()) {
      throw new GpushException(
          new SessionFailure.CannotExtend(
              session.name().text(),
              "node 0 does not say what is left of its time",
              "gpush extend -s " + session.name() + " --for 2h"));
    }
    return left;
  }

  private static void renew(
      LiveSession session, Optional<Duration> hardEnd, Optional<Duration> idle) {
    var lease = new LeaseTerms(hardEnd, idle.orElse(session.entry().idle()));
    session.backend().renew(session.gang(), lease);
    session.move(session.entry().leased(lease));
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
