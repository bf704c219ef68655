package dev.gpush.gateway.session;

import dev.gpush.core.config.Config;
import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.run.SaveListener;
import dev.gpush.core.run.SavedFiles;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.Samples;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.talk.TracedTalk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionEnvironment;
import dev.gpush.gateway.session.live.SessionWork;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.gateway.session.saves.LiveSync;
import dev.gpush.launch.Launcher;
import dev.gpush.launch.journal.NodeOutput;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Runs and commands, on the sessions of this gateway. */
final class GatewayRuns implements Runs {
  /** The nodes are new and their facts are being gathered already; nothing waits long for them. */
  private static final Duration PROBLEMS = Duration.ofSeconds(2);

  /** Nodes that were looked at within this time have what was seen then. */
  private static final Duration JUST_NOW = Duration.ofSeconds(2);

  /** Why a session has ended that did not end by itself. */
  private static final String ASKED = "another gpush down or up --replace gave it back meanwhile";

  private final GatewaySessions sessions;
  private final SessionLinks links;
  private final Clock clock;
  private final Tasks tasks;

  GatewayRuns(GatewaySessions sessions, SessionLinks links, Clock clock, Tasks tasks) {
    this.sessions = sessions;
    this.links = links;
    this.clock = clock;
    this.tasks = tasks;
  }

  /**
   * A session that is ready is used as it is, because the launch checks its links and files: doing
   * that twice would double the wait.
   */
  @Override
  public RunView launch(
      RunTarget target, RunRequest request, Consumer<LaunchEvent> events, Talk shown)
      throws InterruptedException {
    var talk = new TracedTalk(shown, clock);
    RunRequest.Command command = request.command();
    Path root = sessions.root(command.folder());
    Optional<LiveSession> ready = sessions.ready(target.session(), root);
    if (ready.isPresent()) {
      LiveSession session = ready.get();
      RunFit.require(session, target, request.claim());
      Optional<TurnQueue.Turn> turn = enterIfThere(session, events, talk);
      if (turn.isPresent()) {
        return launch(session, turn.get(), request, Optional.empty(), talk);
      }
    }
    check(target, command, root);
    GatewaySessions.Found found;
    try (Talk.Step _ = talk.phase(Stage.SESSION, "getting a session")) {
      found = sessions.find(up(target, request), talk);
    }
    LiveSession session = found.session();
    SessionView up = found.view();
    if (!up.isNew()) {
      RunFit.require(session, target, request.claim());
      return launch(session, enter(session, talk), request, Optional.empty(), talk);
    }
    try {
      events.accept(new LaunchEvent.SessionMade(up));
      // Its size is what the run asked for.
      RunRequest all = request.claiming(request.claim().ofAll());
      return launch(session, enter(session, talk), all, up.generation(), talk);
    } catch (GpushException failed) {
      if (!(failed.failure() instanceof SyncFailure.Held)) { // A user decides in the session.
        giveBack(session, events, talk);
      }
      throw failed;
    }
  }

  /** Of what would make a session. */
  private static void check(RunTarget target, RunRequest.Command command, Path root) {
    if (command.words().isEmpty()) {
      String session = target.session().map(SessionName::text).orElse("this folder");
      throw new GpushException(new LaunchFailure.NothingToRepeat(session));
    }
    Launcher.check(command.words(), root, command.folder());
  }

  @Override
  public Preview preview(RunTarget target, RunRequest request, Talk talk)
      throws InterruptedException {
    Path root = sessions.root(request.command().folder());
    Optional<LiveSession> there =
        sessions.ready(target.session(), root).or(() -> sessions.meant(target.session(), root));
    boolean isOfAnySession = request.command().at().isEmpty();
    if (there.filter(session -> !isOfAnySession || !session.isWaiting()).isEmpty()) {
      check(target, request.command(), root);
      return new Preview.NewSession(sessions.plan(up(target, request)));
    }
    LiveSession session = there.get();
    session.requireNodes();
    session.requireUsable();
    if (isOfAnySession) {
      RunFit.require(session, target, request.claim());
    }
    links.ensure(linked(session.name()), talk);
    return session.work().preview(request, talk);
  }

  /**
   * The launch has failed already; a failure here must not hide that. Another command may have
   * ended the session, and made another one of its name.
   */
  private void giveBack(LiveSession session, Consumer<LaunchEvent> events, Talk talk)
      throws InterruptedException {
    SessionName name = session.name();
    try {
      sessions
          .down(session, false, talk)
          .ifPresent(end -> events.accept(new LaunchEvent.SessionGivenBack(name, end)));
    } catch (GpushException failed) {
      events.accept(new LaunchEvent.SessionKept(name, failed.failure()));
    }
  }

  /**
   * Empty when the session has ended before its turn came: another one can be made then. Once the
   * run is in it, its end is the end of the run's command, because the user wanted that end.
   */
  private Optional<TurnQueue.Turn> enterIfThere(
      LiveSession session, Consumer<LaunchEvent> events, Talk talk) throws InterruptedException {
    try {
      return Optional.of(enter(session, talk));
    } catch (GpushException failed) {
      if (!(failed.failure() instanceof SessionFailure.Gone(var name, var reason))) {
        throw failed;
      }
      events.accept(new LaunchEvent.SessionGone(name, reason));
      return Optional.empty();
    }
  }

  /** Takes the turn, with links that are up. */
  private TurnQueue.Turn enter(LiveSession session, Talk talk) throws InterruptedException {
    try (Talk.Step _ = talk.phase(Stage.SESSION, "reaching " + session.name())) {
      TurnQueue.Turn turn = session.begin("run", talk);
      boolean isIn = false;
      try {
        links.ensure(session, talk);
        isIn = true;
        return turn;
      } finally {
        if (!isIn) {
          turn.close();
        }
      }
    }
  }

  private static UpRequest up(RunTarget target, RunRequest request) {
    RunRequest.Claim claim = request.claim();
    RunRequest.Command command = request.command();
    UpRequest.Wanted wanted =
        UpRequest.Wanted.asConfigured()
            .on(target.backend())
            .size(claim.nodes(), claim.gpus())
            .natives(target.natives());
    return UpRequest.of(command.folder(), command.environment())
        .named(target.session())
        .wanting(wanted)
        .leased(new UpRequest.Lease(target.hardEnd(), Optional.empty()))
        .onExisting(UpRequest.Existing.TAKE_ANY);
  }

  @Override
  public RunView launch(SessionName name, RunRequest request, Talk talk)
      throws InterruptedException {
    LiveSession session = sessions.find(name);
    var traced = new TracedTalk(talk, clock);
    return launch(session, enter(session, traced), request, Optional.empty(), traced);
  }

  /**
   * One launch at a time per session, so that two never see the same free slots or a half-written
   * tree.
   *
   * <p>What is edited on a node during a long push that sends, or a long setup, would be on that
   * one only: they are looked at again. A push that sends nothing looks at the nodes at its end.
   *
   * @param turn ends with the launch, and while the run waits for slots, which may be hours: other
   *     commands, above all down, must be able to run
   * @param prepared the generation for which the environment was made just now
   */
  private RunView launch(
      LiveSession session,
      TurnQueue.Turn turn,
      RunRequest request,
      Optional<Long> prepared,
      Talk talk)
      throws InterruptedException {
    try (turn) {
      SessionWork work = session.work();
      Optional<Long> at = request.command().at();
      long before = work.generation();
      Instant begun = clock.now(); // Not nanos, which stand still while this machine sleeps.
      long generation = at.isPresent() ? at.get() : work.push(request.overwrite(), talk);
      work.sayNews(talk);
      Instant looked = generation == before ? clock.now() : begun;
      boolean isPrepared = prepared.equals(Optional.of(generation));
      Config config = isPrepared ? work.config() : work.prepare(talk);
      if (at.isEmpty() && Duration.between(looked, clock.now()).abs().compareTo(JUST_NOW) > 0) {
        long now = work.push(request.overwrite(), talk);
        config = now == generation ? config : work.prepare(talk);
        generation = now;
      }
      return work.launch(request, config, generation, turn, talk);
    } catch (InterruptedException | GpushException ended) {
      requireThere(session, ended);
      throw ended;
    }
  }

  @Override
  public SavedFiles awaitSave(
      SessionName name, int run, RunRequest request, long generation, SaveListener listener)
      throws InterruptedException {
    LiveSession session = sessions.find(name);
    var steps =
        new SaveWatch.OfSession(
            session,
            links,
            request.overwrite(),
            () -> requireThere(session, new InterruptedException("the session has ended")));
    SavedFiles saved;
    try (LiveSync.Left _ = left(session)) {
      saved = new SaveWatch(session, steps, clock).await(generation, listener::failed);
    } catch (InterruptedException ended) {
      requireThere(session, ended);
      throw ended;
    }
    listener.saved(saved);
    try {
      session.work().stopForSave(run);
    } catch (GpushException failed) {
      listener.failed(failed.failure());
    }
    return saved;
  }

  private static LiveSync.Left left(LiveSession session) {
    return session.workIfAny().map(work -> work.live().leaveToWatchedRun()).orElse(() -> {});
  }

  @Override
  public Pictures pictures() {
    return sessions.pictures();
  }

  @Override
  public List<RunView> list(SessionName name) {
    return launcher(name).list();
  }

  @Override
  public List<RunDifference> differences(SessionName name, int first, int second) {
    return launcher(name).differences(first, second);
  }

  @Override
  public FabricPlan plan(
      SessionName name, RunRequest.Command command, List<UserVariable> environment, Talk talk)
      throws InterruptedException {
    LiveSession session = linked(name);
    links.ensure(session, talk);
    SessionWork work = session.work();
    return work.launcher().plan(command, work.input(command), environment);
  }

  @Override
  public CheckReport check(
      SessionName name,
      RunRequest.Command command,
      List<UserVariable> environment,
      CheckLevel level,
      Talk talk)
      throws InterruptedException {
    LiveSession session = linked(name);
    links.ensure(session, talk);
    SessionWork work = session.work();
    return work.launcher().check(command, work.input(command), environment, level, talk);
  }

  @Override
  public List<FabricFinding> problems(SessionName name, RunRequest.Command command, Talk talk)
      throws InterruptedException {
    try {
      return tasks.within(PROBLEMS, "problems", () -> problems(linked(name).work(), command));
    } catch (TimeoutException | GpushException _) {
      // A run on these nodes, or check, says it then.
      return List.of();
    }
  }

  private static List<FabricFinding> problems(SessionWork work, RunRequest.Command command)
      throws InterruptedException {
    return work.launcher().problems(command, work.input(command));
  }

  @Override
  public RunView find(SessionName name, Optional<Integer> run) {
    return launcher(name).find(run);
  }

  @Override
  public Optional<Integer> follow(SessionName name, int run, LogRequest asked, RunOutput output)
      throws InterruptedException {
    LiveSession session = sessions.find(name);
    try {
      return launcher(name).follow(run, asked, output);
    } catch (InterruptedException | GpushException ended) {
      requireThere(session, ended);
      throw ended;
    }
  }

  @Override
  public long fetch(SessionName name, int run, Path folder, Talk talk) throws InterruptedException {
    return launcher(name).fetch(run, folder, talk);
  }

  /**
   * A session that ends interrupts what waits in it and closes its links; for the client that is
   * the end of the session.
   */
  private static void requireThere(LiveSession session, Exception ended) {
    session
        .gone()
        .ifPresent(
            reason -> {
              throw new GpushException(
                  new SessionFailure.Gone(session.name().text(), reason), ended);
            });
    LedgerEntry entry = session.entry();
    boolean isEnding =
        switch (entry.state()) {
          case RELEASING, RELEASED, LEAKED -> true;
          case ASKED, QUEUED, GRANTED, READY, DEGRADED -> false;
        };
    if (isEnding) {
      String why = entry.detail().isEmpty() ? ASKED : entry.detail();
      throw new GpushException(new SessionFailure.Gone(session.name().text(), why), ended);
    }
  }

  @Override
  public RunView stop(SessionName name, int run, String signal, Duration grace, Talk talk)
      throws InterruptedException {
    return launcher(name).stop(run, signal, grace, talk);
  }

  /** Logs may be requested right after a gateway's restart; then the links are opened first. */
  private LiveSession linked(SessionName name) {
    LiveSession session = sessions.find(name);
    try {
      links.await(session, "link");
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(
          new SessionFailure.NotReached(name.text(), 0, session.entry().state().word()), stop);
    }
    return session;
  }

  private Launcher launcher(SessionName name) {
    return linked(name).work().launcher();
  }

  @Override
  public int exec(
      SessionName name,
      int node,
      List<String> words,
      boolean tty,
      Map<String, String> environment,
      Streams streams)
      throws InterruptedException {
    LiveSession session = linked(name);
    links.ensure(session, List.of(node), Talk.silent());
    boolean hasTerminal = tty && streams.terminal().isPresent();
    Json.Obj request =
        NodeCommand.request(
            words,
            session.node(node).workspace(),
            SessionEnvironment.onNode(session, node, environment),
            hasTerminal ? streams.terminal() : Optional.empty(),
            true);
    try {
      return new NodeCommand(session.link(node), tasks).run(request, streams, hasTerminal);
    } catch (GpushException failed) {
      int status = NodeCommand.shellStatus(failed).orElseThrow(() -> failed);
      NodeCommand.complain(streams, NodeCommand.complaint(words, status));
      return status;
    }
  }

  @Override
  public int exec(
      SessionName name,
      List<Integer> nodes,
      List<String> words,
      Map<String, String> environment,
      RunOutput output)
      throws InterruptedException {
    LiveSession session = linked(name);
    links.ensure(session, nodes, Talk.silent());
    record Prepared(int node, Json.Obj request, NodeCommand command) {}
    // All of them first: a node that cannot be reached must not leave the command on some nodes.
    var prepared = new ArrayList<Prepared>();
    for (int node : nodes) {
      Json.Obj request =
          NodeCommand.request(
              words,
              session.node(node).workspace(),
              SessionEnvironment.onNode(session, node, environment),
              Optional.empty(),
              false);
      prepared.add(new Prepared(node, request, new NodeCommand(session.link(node), tasks)));
    }
    var lines = new NodeOutput(output);
    try {
      List<Integer> statuses =
          tasks.each(
              "exec", prepared, each -> each.command().run(each.request(), each.node(), lines));
      return statuses.stream().filter(status -> status != 0).findFirst().orElse(0);
    } catch (GpushException failed) {
      int status = NodeCommand.shellStatus(failed).orElseThrow(() -> failed);
      output.event(0, NodeCommand.complaint(words, status));
      return status;
    }
  }

  @Override
  public int copy(SessionName name, int node, Streams streams) throws InterruptedException {
    LiveSession session = linked(name);
    links.ensure(session, List.of(node), Talk.silent());
    return new NodeCommand(session.link(node), tasks).run(NodeCommand.copy(), streams, false);
  }

  @Override
  public Samples sample(SessionName name, Optional<Integer> node, Duration interval) {
    return new NodeSamples(linked(name), node, interval, clock, tasks);
  }

  @Override
  public List<NodeStacks> stacks(SessionName name, Optional<Integer> run)
      throws InterruptedException {
    return new StackLook(linked(name), run, tasks).take();
  }
}
