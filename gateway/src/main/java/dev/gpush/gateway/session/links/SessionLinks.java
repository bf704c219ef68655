package dev.gpush.gateway.session.links;

import dev.gpush.core.backend.AgentRestart;
import dev.gpush.core.backend.Capabilities.AgentRestarts;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Phrase;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.RestartedAgents;
import dev.gpush.gateway.session.live.SessionWork;
import dev.gpush.gateway.session.live.SessionWorks;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;

/**
 * Opens the links of a session and watches over them: a cut link is unknown, only the backend says
 * that the gang is gone.
 */
public final class SessionLinks {
  private static final System.Logger LOG = System.getLogger("gpush.session");

  /** All agents run already; a link that is not up within this time will not come up. */
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

  private static final LinkMaker.Through NO_TUNNEL = _ -> Optional.empty();

  private final LinkMaker maker;
  private final SessionWorks works;
  private final Duration observePause;
  private final Tasks tasks;
  private final Ended ended;

  /** Called on its own thread when a gang has ended by itself. */
  @FunctionalInterface
  public interface Ended {
    void ended(LiveSession session, String reason) throws InterruptedException;
  }

  /**
   * @param observePause between two checks of a gang whose link is cut
   */
  public SessionLinks(
      LinkMaker maker, SessionWorks works, Duration observePause, Tasks tasks, Ended ended) {
    this.maker = maker;
    this.works = works;
    this.observePause = observePause;
    this.tasks = tasks;
    this.ended = ended;
  }

  /** Links all nodes; on return all are up. */
  public void connect(LiveSession session, Config config, Talk talk) throws InterruptedException {
    Optional<Tunnels> tunnels;
    try (Talk.Step _ = talk.phase(Stage.AGENTS, linking(session))) {
      tunnels = connect(session, Optional.of(config), CONNECT_LIMIT);
    }
    tunnels.map(Tunnels::sentences).ifPresent(all -> all.forEach(talk::say));
    MissingFeatures.of(session.links()).forEach(talk::say);
  }

  /**
   * As {@link #connect(LiveSession, Config, Talk)}, without messages; returns the tunnels of a
   * large gang. Config is empty when a session is taken over without a client: nodes of one that
   * was ready may then be away, and their links are as those that are cut.
   */
  public Optional<Tunnels> connect(LiveSession session, Optional<Config> config, Duration limit)
      throws InterruptedException {
    Optional<Tunnels> tunnels =
        session
            .backend()
            .capabilities()
            .pipeLimit()
            .filter(port -> session.gang().nodes().size() > port.most())
            .map(_ -> maker.tunnels(session));
    Optional<AgentFailure.Superseded> split = Optional.empty();
    boolean isDone = false;
    try {
      connectAll(session, tunnels, config, limit);
      isDone = true;
    } catch (GpushException failed) {
      split = split(session, failed);
      if (split.isEmpty()) {
        throw failed;
      }
    } finally {
      if (!isDone) {
        // Links that never came up would look like links that are cut, and commands would wait for
        // them.
        session.unlink();
      }
    }
    if (split.isPresent()) {
      session.takeFrom(split.get(), maker.holder());
      return connect(session, config, limit);
    }
    // A link that was cut before the session was ready was not handled yet.
    observeSoon(session);
    return tunnels;
  }

  /**
   * Two gateways of one home that link a new gang at the same moment may each get some nodes. Node
   * 0 decides: the one that has it takes the others, too, and the other one only watches.
   */
  private static Optional<AgentFailure.Superseded> split(
      LiveSession session, GpushException failed) {
    return failed.failure() instanceof AgentFailure.Superseded other
            && other.term() == session.entry().keeper().term()
            && session.entry().state() == SessionState.GRANTED
            && session.link(0).state() instanceof LinkState.Up
        ? Optional.of(other)
        : Optional.empty();
  }

  private void connectAll(
      LiveSession session, Optional<Tunnels> tunnels, Optional<Config> config, Duration limit)
      throws InterruptedException {
    LinkMaker.Through through = tunnels.<LinkMaker.Through>map(all -> all).orElse(NO_TUNNEL);
    Gang gang = session.gang();
    var links = new ArrayList<Link>();
    for (NodeInfo node : gang.nodes()) {
      links.add(
          maker.make(
              session.backend(),
              gang,
              node,
              session.entry(),
              through,
              state -> {
                tunnels.ifPresent(all -> all.changed(node.index(), state));
                watch(session, node.index(), state);
              }));
    }
    session.setLinks(links, works.make(session, links, config));
    session.work().start();
    session.lost().ifPresent(session::lose);
    // A session that was whole once, and no client that wants it whole now.
    boolean mayLack = config.isEmpty() && session.entry().state() == SessionState.READY;
    var connecting = new TreeMap<Integer, Task<Json.Obj, RuntimeException>>();
    for (Link link : links) {
      if (session.isLost(link.node())) {
        continue;
      }
      connecting.put(link.node(), tasks.fork("connect", () -> connect(link, limit)));
    }
    try {
      Set<Integer> present = await(session, connecting, mayLack);
      PeerSetup.start(session, 0, tasks);
      session.work().tellEnvironment(present);
      session.work().launcher().attach(present);
    } finally {
      connecting.values().forEach(Task::cancel);
    }
  }

  /**
   * Waits for all nodes.
   *
   * @param mayLack whether some may be away, as while their link is cut, if one at least is there:
   *     then they are awaited in the background
   * @return those that are there
   */
  private Set<Integer> await(
      LiveSession session,
      Map<Integer, Task<Json.Obj, RuntimeException>> connecting,
      boolean mayLack)
      throws InterruptedException {
    var present = new TreeSet<Integer>();
    var away = new TreeMap<Integer, GpushException>();
    for (var each : connecting.entrySet()) {
      int node = each.getKey();
      try {
        each.getValue().get();
        present.add(node);
      } catch (GpushException failed) {
        if (!mayLack || session.link(node).state().isFinal()) {
          throw failed;
        }
        away.put(node, failed);
      }
    }
    if (present.isEmpty() && !away.isEmpty()) {
      throw away.firstEntry().getValue();
    }
    for (int node : away.keySet()) {
      Link link = session.link(node);
      if (link.state() instanceof LinkState.Idle) { // It may have come after its time.
        link.keepConnecting();
      }
      tasks.start("attach", () -> attach(session, node));
    }
    return present;
  }

  /** Asks a node that was away what the others were asked when they were linked. */
  private static void attach(LiveSession session, int node) {
    try {
      session.link(node).call("status", Json.object());
      session.work().launcher().attach(Set.of(node));
    } catch (GpushException over) {
      // The link has ended, or the session has.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Each node on its own thread, so that the limits of several that are away do not add up. */
  private Json.Obj connect(Link link, Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "connect", link::connect);
    } catch (IOException broken) {
      throw new GpushException(
          new AgentFailure.LinkOver(link.node(), String.valueOf(broken.getMessage())), broken);
    } catch (TimeoutException late) {
      throw new GpushException(
          new AgentFailure.LinkOver(link.node(), "no answer for " + DurationText.of(limit)), late);
    }
  }

  /**
   * Whether another gateway has taken the gang under a higher term, as by adoption: under its own,
   * another machine with this home has it. Node 0 is asked by a link that ends at once; false also
   * when it does not answer.
   */
  public boolean isTaken(LiveSession session) throws InterruptedException {
    Gang gang = session.gang();
    NodeInfo first = gang.nodes().getFirst();
    try (Link link =
        maker.make(session.backend(), gang, first, session.entry(), NO_TUNNEL, _ -> {})) {
      connect(link, CONNECT_LIMIT);
      return false;
    } catch (GpushException failed) {
      return failed.failure() instanceof AgentFailure.Superseded other
          && other.term() > session.entry().keeper().term();
    }
  }

  private static String linking(LiveSession session) {
    return "linking " + Phrase.counted(session.gang().nodes().size(), "node");
  }

  /** Before a command uses the whole gang; see {@link #requireLinks}. */
  public void ensure(LiveSession session, Talk talk) throws InterruptedException {
    requireLinks(session, talk);
    session.requireWhole();
    requireOpen(session, session.links());
  }

  /** Before a command uses some of the nodes; see {@link #requireLinks}. */
  public void ensure(LiveSession session, List<Integer> nodes, Talk talk)
      throws InterruptedException {
    requireLinks(session, talk);
    if (nodes.stream().anyMatch(session::isLost)) {
      session.requireWhole();
    }
    requireOpen(session, nodes.stream().map(session::link).toList());
  }

  /**
   * A session of an earlier gateway may have no links yet; one that has ended fails with its
   * reason. The caller has the session's turn, or the session has links.
   */
  public void requireLinks(LiveSession session, Talk talk) throws InterruptedException {
    session.requireUsable();
    session.requireOurs();
    if (session.links().isEmpty()) {
      try (Talk.Step _ = talk.phase(Stage.AGENTS, linking(session))) {
        connect(session, Optional.empty(), CONNECT_LIMIT);
      }
    }
  }

  /**
   * As {@link #requireLinks}, for a caller without the turn: one that is just being made or
   * recovered is waited for, because its turn ends when it is linked. A caller that is interrupted
   * does not end the links: other callers may use them already.
   *
   * @param what is waiting, for others that wait for its turn
   */
  public void await(LiveSession session, String what) throws InterruptedException {
    if (!session.links().isEmpty()) {
      return;
    }
    TurnQueue.Turn turn = session.begin(what, Talk.silent());
    Task<Boolean, RuntimeException> linking =
        tasks.fork(
            "link",
            () -> {
              try (turn) {
                requireLinks(session, Talk.silent());
                return true;
              }
            });
    try {
      linking.get();
    } finally {
      if (linking.isDone()) { // Also when it never ran, because the gateway ends.
        turn.close();
      }
    }
  }

  private static void requireOpen(LiveSession session, List<Link> links) {
    for (Link link : links) {
      switch (link.state()) {
        case LinkState.Over(var reason) ->
            throw new GpushException(new SessionFailure.Gone(session.name().text(), reason));
        case LinkState.Refused(var failure) -> throw new GpushException(failure);
        case LinkState.Up _, LinkState.Cut _, LinkState.Idle _ -> {}
      }
    }
  }

  /**
   * Called on the link's own thread for every state, also for each attempt of a link that is cut.
   */
  private void watch(LiveSession session, int node, LinkState state) {
    boolean isUp = state instanceof LinkState.Up;
    if (state instanceof LinkState.Up(var welcome, _)) {
      // First, because an empty node would count as synced once its link counts as up.
      session
          .workIfAny()
          .map(SessionWork::restarted)
          .ifPresent(all -> restarted(session, node, all, welcome));
    }
    session.workIfAny().ifPresent(work -> work.linkChanged(node, isUp));
    session.changed();
    switch (state) {
      case LinkState.Cut _, LinkState.Over _, LinkState.Refused _ -> observeSoon(session);
      case LinkState.Up(_, var resumed) -> {
        if (!resumed && session.entry().state() == SessionState.READY) {
          PeerSetup.start(session, node, tasks);
          if (node == 0) { // The others have the lease from it.
            restoreLease(session);
          }
          session
              .workIfAny()
              .ifPresent(work -> tasks.start("environment", () -> tellEnvironment(work, node)));
        }
      }
      case LinkState.Idle _ -> {}
    }
  }

  /** Of a session that is ready; before, its idle time may not be known. */
  public void restoreLease(LiveSession session) {
    LostLease.restore(session, observePause, tasks);
  }

  private static void tellEnvironment(SessionWork work, int node) throws InterruptedException {
    try {
      work.tellEnvironment(Set.of(node));
    } catch (GpushException untold) {
      // Its link has ended again, and the next one tells it; or the next run reports the failure.
    }
  }

  /** The agent was replaced: the backend may know why, and what the node is now. */
  private void restarted(LiveSession session, int node, RestartedAgents restarted, Json welcome) {
    if (restarted.welcomed(node, welcome)) {
      boolean isEmpty = welcome.flag("bare") && welcome.number("generation").orElse(0L) == 0;
      session.workIfAny().ifPresent(work -> work.live().replaced(node, isEmpty));
      session
          .backend()
          .capabilities()
          .agentRestarts()
          .ifPresent(
              restarts ->
                  tasks.start("restart", () -> findReason(session, node, restarts, restarted)));
    }
  }

  private static void findReason(
      LiveSession session, int node, AgentRestarts restarts, RestartedAgents restarted) {
    AgentRestart restart;
    try {
      restart = restarts.of(session.gang(), node);
    } catch (GpushException nobodyKnows) {
      return;
    }
    if (!restart.why().isEmpty()) {
      restarted.because(node, restart.why());
    }
    if (restart.now().equals(session.gang().nodes().get(node))) {
      return;
    }
    // Takes the turn, because a run that is being started relies on unchanged nodes.
    try (TurnQueue.Turn _ = session.begin("a look at its nodes", Talk.silent())) {
      if (!session.isOver() && session.entry().grant().isPresent()) {
        session.changeAnyway(was -> was.with(was.reservation().with(restart.now())));
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Another gateway has the gang; the session only follows what its backend says. */
  public void watch(LiveSession session) {
    session.watch();
    session.changed();
    observeSoon(session);
  }

  /** Makes sure that one thread observes a session whose links are not all up. */
  public void observeSoon(LiveSession session) {
    if (needsLook(session) && session.startObserving()) {
      // A gateway that ends leaves this to the next one.
      if (!tasks.start("observe", () -> observe(session))) {
        session.stopObserving();
      }
    }
  }

  private static boolean needsLook(LiveSession session) {
    return !session.isClosed()
        && session.entry().state() == SessionState.READY
        && (session.superseded().isPresent()
            || session.links().stream()
                .filter(link -> !session.isLost(link.node()))
                .map(Link::state)
                .anyMatch(
                    state -> state instanceof LinkState.Cut || state instanceof LinkState.Over));
  }

  /** Observes until the links are back or the backend says that the gang is gone. */
  private void observe(LiveSession session) {
    try {
      while (needsLook(session)) {
        switch (look(session)) {
          case Observation.Gone(var reason) -> {
            // Ends the links first: a command that waits for a link has the turn that the clean-up
            // needs.
            session.lose(reason);
            ended.ended(session, reason);
            return;
          }
          case Observation.Partly partly -> session.lose(partly);
          case Observation.Exists _, Observation.CannotTell _ -> {}
        }
        Thread.sleep(observePause);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return;
    } finally {
      session.stopObserving();
    }
    // A link may have been cut between the last check and now.
    observeSoon(session);
  }

  private static Observation look(LiveSession session) {
    try {
      return session.backend().observe(session.gang());
    } catch (GpushException failed) {
      return new Observation.CannotTell(String.valueOf(failed.getMessage()));
    } catch (RuntimeException bug) {
      // The next look may tell; without one, a gang that is gone is never noticed.
      LOG.log(System.Logger.Level.ERROR, "cannot observe, session=" + session.name(), bug);
      return new Observation.CannotTell("a bug in gpush");
    }
  }
}
