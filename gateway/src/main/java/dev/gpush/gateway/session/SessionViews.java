package dev.gpush.gateway.session;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.RestartedAgents;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.gateway.session.live.SessionWork;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.TimeoutException;

/**
 * Sessions as users see them: from the ledger, the links' state, and node 0's report of the lease.
 */
public final class SessionViews {
  /** Together with the answer's limit less than the list's. */
  private static final Duration TAKEOVER_LIMIT = Duration.ofMillis(800);

  /** Of a list, beyond the answer itself: what is read from files. */
  private static final Duration FILES_LIMIT = Duration.ofSeconds(1);

  /** A save takes less; what takes longer is shown as pending. */
  private static final Duration SETTLE_LIMIT = Duration.ofMillis(150);

  /** An agent that lies may say anything. */
  private static final long LONGEST_SECONDS = Duration.ofDays(36_500).toSeconds();

  private static final String NEEDS_YOU = "needs you";
  private static final LinkState NOT_LINKED = new LinkState.Idle();

  private static final System.Logger LOG = System.getLogger("gpush.session");

  /** Node 0 is not asked again by {@link #glance} for this long, also when it gave no answer. */
  private static final Duration FRESH = Duration.ofSeconds(15);

  /** {@code ps} must not wait for an unreachable node. */
  private final Duration answerLimit;

  private final Clock clock;
  private final Tasks tasks;
  private final Map<LiveSession, Report> reports = Collections.synchronizedMap(new WeakHashMap<>());

  public SessionViews(SessionTiming timing, Clock clock, Tasks tasks) {
    this.answerLimit = timing.status();
    this.clock = clock;
    this.tasks = tasks;
  }

  /**
   * What node 0 has said of the lease.
   *
   * @param said when
   * @param asked when it was asked last, without an answer perhaps
   * @param moves of the session until then
   */
  private record Report(Json status, long said, long asked, long moves) {
    Duration age(Clock clock) {
      return Duration.ofNanos(clock.nanos() - said);
    }
  }

  public List<SessionView> of(List<LiveSession> sessions) {
    var asked = new ArrayList<Task<SessionView, RuntimeException>>();
    for (LiveSession session : sessions) {
      asked.add(tasks.fork("view", () -> of(session, false)));
    }
    var views = new ArrayList<SessionView>();
    try {
      for (int i = 0; i < sessions.size(); i++) {
        views.add(within(answerLimit.plus(FILES_LIMIT), asked.get(i), sessions.get(i)));
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      asked.forEach(Task::cancel);
    }
    return views;
  }

  /** A session that fails does not hide the others. */
  private static SessionView within(
      Duration limit, Task<SessionView, RuntimeException> view, LiveSession session)
      throws InterruptedException {
    try {
      return view.get(limit);
    } catch (RuntimeException failed) {
      LOG.log(System.Logger.Level.WARNING, "no view, session=" + session.name(), failed);
      return plain(session.entry(), "its state cannot be read; see gpush gateway logs");
    } catch (TimeoutException late) {
      return plain(session.entry(), "no answer for " + DurationText.of(limit));
    }
  }

  /** Only what the ledger knows. */
  private static SessionView plain(LedgerEntry entry, String detail) {
    SessionState state =
        entry.state() == SessionState.READY ? SessionState.DEGRADED : entry.state();
    List<NodeView> nodes =
        entry.grant().map(Gang::nodes).orElse(List.of()).stream()
            .map(info -> new NodeView(info, word(new LinkState.Idle()), Optional.empty(), 0, "", 0))
            .toList();
    return new SessionView(
        identity(entry),
        new SessionView.Status(state, detail, Optional.empty(), false, entry.status().trace()),
        place(entry),
        SessionView.Lease.unknown(),
        new SessionView.Work(nodes, Optional.empty(), 0, entry.asked().python().orElse("")),
        false);
  }

  /** What it has, or what it has asked for while nothing is granted. */
  private static int size(LedgerEntry entry) {
    return entry.grant().map(gang -> gang.nodes().size()).orElse(entry.asked().nodes());
  }

  private static GpuRequest gpus(LedgerEntry entry) {
    return entry.grant().stream()
        .flatMap(gang -> gang.nodes().stream().limit(1))
        .findFirst()
        .map(entry.gpus()::as)
        .orElse(entry.gpus());
  }

  private static SessionView.Identity identity(LedgerEntry entry) {
    return new SessionView.Identity(
        entry.id(), entry.name(), entry.root(), entry.keeper().owner(), entry.created());
  }

  public static SessionView.Place place(LedgerEntry entry) {
    return place(entry, Optional.empty());
  }

  /**
   * @param held for how long it has its nodes
   */
  private static SessionView.Place place(LedgerEntry entry, Optional<Duration> held) {
    String gang =
        entry
            .grant()
            .map(Gang::detail)
            .filter(detail -> !detail.isEmpty())
            .orElse(entry.gang().text());
    Optional<SessionView.Cost> cost =
        entry
            .reservation()
            .first()
            .price()
            .flatMap(hour -> held.map(time -> new SessionView.Cost(hour, time)));
    return new SessionView.Place(
        String.join(",", entry.places()), gang, size(entry), gpus(entry), cost);
  }

  /** The state that users see. */
  public static SessionState state(LiveSession session) {
    awaitTakeOver(session);
    return session.shownState();
  }

  /** A new gateway links within moments; until then every session would look degraded. */
  private static void awaitTakeOver(LiveSession session) {
    if (session.isBeingTakenOver()) {
      session.awaitTurn(TAKEOVER_LIMIT);
    }
  }

  public SessionView of(LiveSession session, boolean isNew) {
    awaitTakeOver(session);
    return of(session, ask(session), sync(session), isNew);
  }

  /**
   * As it is known here: node 0 is asked only when its last answer is not fresh, and saves on their
   * way are not waited for.
   */
  SessionView glance(LiveSession session) {
    awaitTakeOver(session);
    Optional<Report> last = Optional.ofNullable(reports.get(session));
    Report report =
        last.filter(each -> isFresh(each, session))
            .orElseGet(
                () -> {
                  Report now = ask(session);
                  return now.status().equals(Json.object()) ? again(session, last) : now;
                });
    SyncView files =
        session.workIfAny().map(work -> work.files(Duration.ZERO)).orElseGet(SyncView::none);
    return of(session, report, files, false);
  }

  private boolean isFresh(Report report, LiveSession session) {
    return report.moves() == session.moves() && clock.nanos() - report.asked() < FRESH.toNanos();
  }

  /** What was said last, which is counted down until node 0 answers again. */
  private Report again(LiveSession session, Optional<Report> last) {
    long now = clock.nanos();
    Report kept =
        last.map(each -> new Report(each.status(), each.said(), now, session.moves()))
            .orElseGet(() -> new Report(Json.object(), now, now, session.moves()));
    if (isUp(session)) {
      reports.put(session, kept);
    }
    return kept;
  }

  private SessionView of(LiveSession session, Report report, SyncView files, boolean isNew) {
    LedgerEntry entry = session.entry();
    Json status = report.status();
    SessionState state = session.shownState();
    List<NodeView> nodes = nodes(session, entry, status);
    var lease =
        new SessionView.Lease(
            status.number("hard_left_s").map(left -> left(left, report)),
            status.number("idle_left_s").map(left -> left(left, report)),
            ActivityText.ofSession(status),
            LeaseTerms.warnings(status));
    var work =
        new SessionView.Work(
            nodes,
            generation(nodes),
            session.workIfAny().map(SessionWork::runsInProgress).orElse(0),
            session.workIfAny().flatMap(SessionWork::python).or(entry.asked()::python).orElse(""),
            status.items("warm").stream().map(SessionViews::warm).toList(),
            files);
    Optional<Trace> soFar = session.pending().map(request -> request.traced().trace());
    return new SessionView(
        identity(entry),
        new SessionView.Status(
            state,
            detail(session, state, status),
            needsLogin(session, state),
            soFar.isPresent(),
            soFar.orElseGet(() -> session.entry().status().trace())),
        place(entry, held(status, report)),
        lease,
        work,
        isNew);
  }

  private Optional<Duration> held(Json status, Report report) {
    return status
        .number("held_s")
        .map(held -> Duration.ofSeconds(Math.clamp(held, 0, LONGEST_SECONDS)))
        .map(held -> held.plus(report.age(clock)));
  }

  private Duration left(long seconds, Report report) {
    return Duration.ofSeconds(Math.max(0, seconds - report.age(clock).toSeconds()));
  }

  /** Where its files stand; a save of this moment is waited for, so that it need not be guessed. */
  public static SyncView sync(LiveSession session) {
    return session.workIfAny().map(work -> work.files(SETTLE_LIMIT)).orElseGet(SyncView::none);
  }

  private static SessionView.WarmInterpreter warm(Json said) {
    return new SessionView.WarmInterpreter(
        said.text("program").orElse(""), said.flag("ready"), said.number("bytes").orElse(0L));
  }

  /** The newest generation of the nodes; empty while that of one node is not known. */
  private static Optional<Long> generation(List<NodeView> nodes) {
    if (nodes.stream().anyMatch(node -> node.generation().isEmpty())) {
      return Optional.empty();
    }
    return Optional.of(
        nodes.stream().flatMap(node -> node.generation().stream()).reduce(0L, Math::max));
  }

  /** The backend that the user must log in to before the session continues; nothing is lost. */
  private static Optional<String> needsLogin(LiveSession session, SessionState state) {
    List<NodeInfo> nodes = session.entry().grant().map(Gang::nodes).orElse(List.of());
    boolean isAsking = nodes.isEmpty() && state != SessionState.RELEASED;
    boolean isCut =
        session.links().stream()
            .anyMatch(link -> needsYou(session, link.node(), link.state()).isPresent());
    boolean isUnlinked =
        session.links().isEmpty()
            && nodes.stream().anyMatch(node -> needsYou(session, node, NOT_LINKED).isPresent());
    boolean isClosed =
        session.backend().capabilities().gates().stream().anyMatch(SessionViews::isClosed);
    return (isAsking && isClosed) || isCut || isUnlinked
        ? Optional.of(session.backend().name())
        : Optional.empty();
  }

  private static boolean isClosed(Gate gate) {
    return gate.closed().isPresent();
  }

  private static String detail(LiveSession session, SessionState state, Json status) {
    return switch (state) {
      case DEGRADED -> degradation(session);
      case READY ->
          taken(status)
              .or(
                  () ->
                      Optional.of(String.join("; ", restarts(session)))
                          .filter(all -> !all.isEmpty()))
              .orElseGet(() -> detail(session.entry()));
      case ASKED, QUEUED, GRANTED, RELEASING, RELEASED, LEAKED -> detail(session.entry());
    };
  }

  /** Nodes whose agents were replaced: the commands that ran there are gone. */
  private static List<String> restarts(LiveSession session) {
    return session
        .workIfAny()
        .map(SessionWork::restarted)
        .map(RestartedAgents::words)
        .orElse(List.of());
  }

  /** Preempted or cancelled, and not gone yet. */
  private static Optional<String> taken(Json status) {
    return Optional.of(status)
        .filter(said -> said.flag("taken"))
        .flatMap(said -> said.number("hard_left_s"))
        .map(
            left ->
                "the scheduler takes its nodes back in "
                    + DurationText.of(Duration.ofSeconds(left)));
  }

  private static boolean isUp(LiveSession session) {
    return session.links().stream().anyMatch(link -> link.state() instanceof LinkState.Up);
  }

  /** Node 0's report, which is empty when there is no answer. */
  private Report ask(LiveSession session) {
    long moves = session.moves();
    Json said = status(session);
    long now = clock.nanos();
    var report = new Report(said, now, now, moves);
    if (!said.equals(Json.object())) {
      reports.put(session, report);
    }
    return report;
  }

  private Json status(LiveSession session) {
    // Node 0's agent decides for the gang; the others repeat its last message.
    Optional<Link> first =
        session.links().stream().filter(link -> link.state() instanceof LinkState.Up).findFirst();
    if (first.isEmpty()) {
      return Json.object();
    }
    try {
      return tasks.within(answerLimit, "status", () -> first.get().call("status", Json.object()));
    } catch (GpushException | TimeoutException away) {
      return Json.object();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return Json.object();
    }
  }

  private static List<NodeView> nodes(LiveSession session, LedgerEntry entry, Json status) {
    List<NodeInfo> infos = entry.grant().map(Gang::nodes).orElse(List.of());
    List<LinkState> links = session.linkStates();
    var views = new ArrayList<NodeView>();
    for (NodeInfo info : infos) {
      LinkState state = links.size() > info.index() ? links.get(info.index()) : NOT_LINKED;
      Json welcome = state instanceof LinkState.Up(var said, _) ? said : Json.object();
      views.add(
          new NodeView(
              info,
              needsYou(session, info, state).isPresent() ? NEEDS_YOU : word(state),
              generation(session, info.index(), welcome),
              session.workIfAny().map(work -> work.claimed(info.index())).orElse(0),
              welcome.text("python").orElse(""),
              welcome.number("pid").orElse(0L),
              ActivityText.ofNode(status, info.index())));
    }
    return views;
  }

  /**
   * As this gateway has written it, else from the agent's WELCOME, for a gateway that has just
   * taken a session over.
   */
  private static Optional<Long> generation(LiveSession session, int node, Json welcome) {
    return session
        .workIfAny()
        .flatMap(work -> work.generation(node))
        .or(() -> welcome.number("generation"));
  }

  /** Mentions a second gang that is still held. */
  private static String detail(LedgerEntry entry) {
    List<String> holding =
        entry.others().stream()
            .filter(bid -> !bid.isWanted())
            .map(Bid::backend)
            .distinct()
            .toList();
    boolean isSaid = entry.grant().isPresent() && entry.detail().isEmpty() && !holding.isEmpty();
    return isSaid ? "cancelling its requests to " + String.join(", ", holding) : entry.detail();
  }

  private static String degradation(LiveSession session) {
    Optional<AgentFailure.Superseded> other = session.superseded();
    if (other.isPresent()) {
      String holder = new Holder(other.get().holder()).words();
      return "held by " + holder + "; gpush up takes it over";
    }
    var parts = new ArrayList<String>();
    session
        .lost()
        .ifPresent(
            seen ->
                parts.add(
                    seen.nodes()
                        + (seen.lost().size() == 1 ? " is" : " are")
                        + " lost: "
                        + seen.reason()));
    int index = 0;
    for (LinkState state : session.linkStates()) {
      Optional<String> login = needsYou(session, index, state);
      String text =
          session.isLost(index)
              ? ""
              : login.isPresent()
                  ? "needs you: gpush login " + login.get()
                  : switch (state) {
                    case LinkState.Up _ -> "";
                    case LinkState.Idle _ -> "not connected yet";
                    case LinkState.Cut(var reason) -> "connection lost: " + reason;
                    case LinkState.Over(var reason) -> "link closed: " + reason;
                    case LinkState.Refused(var failure) ->
                        "refused: " + FailureText.clause(failure);
                  };
      if (!text.isEmpty()) {
        parts.add("node " + index + " " + text);
      }
      index++;
    }
    parts.addAll(restarts(session));
    return parts.isEmpty() ? "not connected yet" : String.join("; ", parts);
  }

  private static Optional<String> needsYou(LiveSession session, int index, LinkState state) {
    List<NodeInfo> nodes = session.entry().grant().map(Gang::nodes).orElse(List.of());
    return index < nodes.size() ? needsYou(session, nodes.get(index), state) : Optional.empty();
  }

  /**
   * The login that a node's connection waits for: its own, or the one of all nodes of the backend.
   */
  private static Optional<String> needsYou(LiveSession session, NodeInfo node, LinkState state) {
    if (state instanceof LinkState.Up) {
      return Optional.empty();
    }
    List<Gate> all = session.backend().capabilities().gates();
    List<Gate> own = all.stream().filter(gate -> gate.name().equals(node.host())).toList();
    return (own.isEmpty() ? all : own).stream().anyMatch(SessionViews::isClosed)
        ? Optional.of(session.backend().name())
        : Optional.empty();
  }

  static String word(LinkState state) {
    return switch (state) {
      case LinkState.Idle _ -> "idle";
      case LinkState.Up _ -> "up";
      case LinkState.Cut _ -> "cut";
      case LinkState.Over _ -> "over";
      case LinkState.Refused _ -> "refused";
    };
  }
}
