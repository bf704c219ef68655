package dev.gpush.gateway.session.live;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.history.SessionHistory;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.saves.EditNode;
import dev.gpush.gateway.session.saves.LiveSync;
import dev.gpush.gateway.session.saves.NodeGenerations;
import dev.gpush.gateway.session.saves.SessionPush;
import dev.gpush.launch.Launcher;
import dev.gpush.launch.journal.RunTalk;
import dev.gpush.launch.node.EnvironmentChoice;
import dev.gpush.launch.node.NodeEnvironments;
import dev.gpush.launch.node.SetupStep;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.launch.run.SessionTurn;
import dev.gpush.sync.PushOptions;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.watch.WorkspaceWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** What a linked session does: its files and its runs. */
public final class SessionWork implements AutoCloseable {
  private final LiveSession session;
  private final WorkspaceSync sync;
  private final List<SyncNode> nodes;
  private final Launcher launcher;
  private final NodeEnvironments environments;
  private final SessionForwards forwards;
  private final Configs configs;
  private final Clock clock;
  private final Tasks tasks;
  private final AtomicInteger lastWithOtherPython = new AtomicInteger();
  private final RestartedAgents restarted;
  private final SessionSaves saves;
  private final NodeGenerations generations;
  private final SessionPush pushes;
  private final LiveSync live;
  private final Optional<SessionHistory> history;

  SessionWork(
      LiveSession session,
      WorkspaceSync sync,
      WorkspaceWatch watch,
      SavesMode saves,
      List<SyncNode> nodes,
      Launcher launcher,
      NodeEnvironments environments,
      SessionForwards forwards,
      Configs configs,
      Clock clock,
      Tasks tasks) {
    this.session = session;
    this.sync = sync;
    this.nodes = List.copyOf(nodes);
    this.launcher = launcher;
    this.environments = environments;
    this.forwards = forwards;
    this.configs = configs;
    this.clock = clock;
    this.tasks = tasks;
    this.generations = new NodeGenerations(nodes.size());
    this.restarted = new RestartedAgents(saves.folder(), generations::isEmpty, clock);
    this.saves = new SessionSaves(session, launcher, saves.whileRunning(), saves.folder());
    this.pushes = new SessionPush(tasks);
    this.live =
        new LiveSync(
            session.name().text(),
            this.saves,
            sync,
            watch,
            nodes,
            generations,
            pushes,
            saves.mode(),
            clock,
            tasks);
    var place =
        new SessionHistory.Session(
            session.name().text(),
            sync.editNode(),
            () -> session.link(sync.editNode()),
            () -> session.node(sync.editNode()).workspace(),
            this.saves::closed);
    launcher.onChange(session::changed);
    sync.last().numberAfter(launcher::newestGeneration);
    this.history = saves.history().map(source -> new SessionHistory(place, source, tasks));
  }

  /**
   * Whether saves are sent by themselves, and what happens to them while a run is on.
   *
   * @param folder of the session
   * @param history what the editors' node gets of it; empty: nothing
   */
  record SavesMode(
      SyncView.Mode mode,
      SessionSaves.WhileRunning whileRunning,
      Path folder,
      Optional<SessionHistory.Source> history) {}

  /** What brings saves to the nodes. */
  public LiveSync live() {
    return live;
  }

  /** The node where people edit. */
  public int editNode() {
    return sync.editNode();
  }

  /** For a command that ends the session: a push is stopped, and nothing is sent until then. */
  LiveSync.Left stopForEnd() {
    pushes.stop();
    return () -> {
      pushes.allow();
      live.wake();
    };
  }

  /** Begins to send by itself. */
  public void start() {
    live.start();
    history.ifPresent(SessionHistory::start);
  }

  /** Where the files stand, after a moment in which a save that is on its way may arrive. */
  public SyncView files(Duration moment) {
    return live.view(moment).with(history.map(SessionHistory::words).orElse(""));
  }

  /**
   * For a command that ends the session: commits that were made on a node come home.
   *
   * @return why that was not possible; empty when nothing is lost
   */
  public Optional<String> bringCommitsHome() throws InterruptedException {
    return history.isPresent() ? history.get().bringHome() : Optional.empty();
  }

  /** Where versions are kept that nodes have replaced here. */
  public LocalTrash trash() {
    return sync.home().trash();
  }

  /** The session goes on after all. */
  public void goesOn() {
    history.ifPresent(SessionHistory::start);
  }

  public void pauseSaves() {
    live.pause();
    saves.rememberPaused(live.mode() == SyncView.Mode.PAUSED);
  }

  public void resumeSaves() {
    live.resume();
    saves.rememberPaused(false);
  }

  /** Whether this gateway knows that a node has files. */
  boolean hasFiles() {
    for (int node = 0; node < nodes.size(); node++) {
      if (generations.generation(node).orElse(0L) > 0) {
        return true;
      }
    }
    return false;
  }

  /** The link of a node is in another state. */
  public void linkChanged(int node, boolean isUp) {
    if (node < nodes.size()) {
      live.linkChanged(node, isUp);
    }
  }

  public Launcher launcher() {
    return launcher;
  }

  public SessionForwards forwards() {
    return forwards;
  }

  /** Tells the user once what happened meanwhile: to agents, and to the git repository there. */
  public void sayNews(Talk talk) {
    restarted.say(talk);
    history.ifPresent(known -> known.say(talk));
  }

  /** Sends the workspace to all nodes or to none. */
  public long push(boolean overwrite, Talk talk) throws InterruptedException {
    return push(options(overwrite), talk);
  }

  /** Decides about what is held, and sends the workspace to all nodes or to none. */
  public long keep(KeepRequest request, Talk talk) throws InterruptedException {
    long generation = push(options(false).keeping(request), talk);
    sayNews(talk);
    prepare(talk);
    return generation;
  }

  private long push(PushOptions options, Talk talk) throws InterruptedException {
    readable().ifPresent(config -> checkEditNode(EditNode.of(config), talk));
    long begun = generations.moment();
    Generation now;
    try (Talk.Step _ = talk.phase(Stage.WORKSPACE, "bringing files to the nodes")) {
      PushOptions how = comparing(options);
      now =
          pushes
              .run(() -> sync.push(nodes, how, talk))
              .orElseThrow(
                  () -> new GpushException(new SessionFailure.PushStopped(session.name().text())));
    } catch (GpushException failed) {
      if (failed.failure() instanceof SyncFailure.Held
          || failed.failure() instanceof SyncFailure.NotHeld) {
        pushed(sync.last().generation(), begun); // Everything else is there.
      }
      throw failed;
    }
    pushed(now, begun);
    return now.counter();
  }

  private PushOptions comparing(PushOptions options) {
    return session.entry().status().foreign() ? options.comparing() : options;
  }

  /** What a push would do; nothing is sent. */
  public SyncView.Preview preview(boolean overwrite, Talk talk) throws InterruptedException {
    return sync.preview(nodes, comparing(options(overwrite)), talk);
  }

  /** The files may have been written since the node was chosen. */
  private void checkEditNode(EditNode asked, Talk talk) {
    if (asked.require(nodes.size()).index() != editNode()) {
      talk.say(
          "people still edit on node "
              + editNode()
              + " of "
              + session.name()
              + ", and on node "
              + asked.index()
              + ", as sync.edit says, when the gateway is started again (gpush gateway stop)");
    }
  }

  private void pushed(Generation now, long begun) {
    live.pushed(now.counter(), begun);
    live.used();
    if (session.entry().status().foreign()) {
      session.change(was -> was.foreign(false));
    }
    LedgerEntry entry = session.entry();
    if (entry.state() == SessionState.READY && !entry.detail().isEmpty()) {
      // The detail that no files were sent no longer holds.
      session.change(was -> was.in(SessionState.READY, ""));
    }
  }

  /**
   * Sends the workspace to all nodes or to none, and makes the session's environment there. Tells
   * the user about agents that were replaced.
   */
  public long bring(boolean overwrite, Talk talk) throws InterruptedException {
    long generation = push(overwrite, talk);
    sayNews(talk);
    prepare(talk);
    return generation;
  }

  public void pull(int node, String path, Talk talk) throws InterruptedException {
    live.used();
    sync.pull(nodes.get(node), path, session.entry().root().resolve(path), talk);
  }

  /** The workspace as a push would send it now. */
  public Manifest look() throws InterruptedException {
    return sync.look();
  }

  /** What this gateway pushed last. */
  public Manifest pushed() throws InterruptedException {
    return sync.pushed();
  }

  private static PushOptions options(boolean overwrite) {
    return overwrite ? PushOptions.standard().overwriting() : PushOptions.standard();
  }

  /** Tells these nodes what the session's environment is, for shells that open before a push. */
  public void tellEnvironment(Set<Integer> nodes) throws InterruptedException {
    Optional<EnvironmentChoice> choice = readableChoice();
    if (choice.isPresent()) {
      environments.tell(nodes, choice.get());
    }
  }

  private Optional<EnvironmentChoice> readableChoice() {
    return readable().map(this::choice);
  }

  /** A configuration that cannot be read is reported by the commands that need it. */
  private Optional<Config> readable() {
    try {
      return Optional.of(config());
    } catch (GpushException unreadable) {
      return Optional.empty();
    }
  }

  private EnvironmentChoice choice(Config config) {
    LedgerEntry entry = session.entry();
    return EnvironmentChoice.of(config, entry.asked().python())
        .with(ConfiguredData.of(config, entry.keeper().owner()).folders());
  }

  /**
   * Makes the session's environment on all nodes, with its setup. The files are there.
   *
   * @return the configuration as it was read, for what the same command does next
   * @throws GpushException with what fails; shells and commands work in any case
   */
  public Config prepare(Talk talk) throws InterruptedException {
    Config config = config();
    try (Talk.Step _ = talk.phase(Stage.ENVIRONMENT, "making the environment")) {
      environments.prepare(choice(config), talk);
    }
    return config;
  }

  public Config config() {
    return configs.load(session.entry().root());
  }

  /** The run gives the turn to others while it waits for slots. */
  public RunView launch(
      RunRequest request, Config config, long synced, TurnQueue.Turn turn, Talk talk)
      throws InterruptedException {
    saves.launching(1);
    try {
      return launcher.launch(
          apart(request), input(request.command(), config, synced), new RunTurn(turn), talk);
    } finally {
      saves.launching(-1);
      live.wake();
    }
  }

  private RunRequest apart(RunRequest request) {
    boolean isApart = saves.isolates() && request.kind() == RunKind.PROGRAM;
    return isApart ? request.fromSnapshot(true) : request;
  }

  /** What a push, the setup and a launch would do. */
  public Runs.Preview.Ready preview(RunRequest request, Talk talk) throws InterruptedException {
    RunRequest.Command command = request.command();
    Config config = config();
    return new Runs.Preview.Ready(
        session.name(),
        command.at().isPresent() ? SyncView.Preview.nothing() : preview(request.overwrite(), talk),
        choice(config).steps().stream().map(SetupStep::run).toList(),
        launcher.preview(apart(request), input(command, config, command.at().orElse(0L)), talk));
  }

  private final class RunTurn implements SessionTurn {
    private TurnQueue.Turn turn;

    RunTurn(TurnQueue.Turn turn) {
      this.turn = turn;
    }

    @Override
    public void release() {
      turn.close();
    }

    @Override
    public void acquire() throws InterruptedException {
      turn = session.begin("run", Talk.silent());
    }
  }

  /** Ends a run because newer files are on the nodes; its ranks have the time of run.grace. */
  public void stopForSave(int run) throws InterruptedException {
    launcher.stop(run, "TERM", RunEnding.of(config()).grace(), RunTalk.SAVED, Talk.silent());
  }

  public LaunchInput input(RunRequest.Command command) {
    return input(command, config(), 0);
  }

  private LaunchInput input(RunRequest.Command command, Config config, long synced) {
    var variables = SessionEnvironment.Variables.of(config, session, command.environment());
    return new LaunchInput(
        synced,
        choice(config).python(),
        variables.values(),
        variables.origins(),
        path -> sync.whyIgnored(path.toString()),
        RunEnding.of(config));
  }

  /** The newest generation that this gateway knows to be on all nodes; 0 before it wrote one. */
  public long generation() {
    return generations.common().orElse(0L);
  }

  /** The generation that this gateway has written there; empty when it has written none yet. */
  public Optional<Long> generation(int node) {
    return node >= nodes.size() ? Optional.of(0L) : generations.generation(node);
  }

  /** Whether the files of a node are gone. */
  boolean isAnyEmpty() {
    return generations.isAnyEmpty();
  }

  /** Nodes whose agent was replaced, until a command has told the user. */
  public RestartedAgents restarted() {
    return restarted;
  }

  public int runsInProgress() {
    return (int) launcher.list().stream().filter(run -> !run.isOver()).count();
  }

  /** The runs that are in progress, as {@link Launcher#running}. */
  public List<RunView> running() {
    return launcher.running();
  }

  /** These runs in words, each with how long it has been going. */
  public List<String> words(List<RunView> running) {
    Instant now = clock.now();
    return running.stream().map(run -> run.label(Duration.between(run.started(), now))).toList();
  }

  public int claimed(int node) {
    String prefix = node + ":";
    return (int)
        launcher.list().stream()
            .filter(run -> !run.isOver())
            .flatMap(run -> run.slots().stream())
            .filter(slot -> slot.startsWith(prefix))
            .count();
  }

  /** The interpreter of the newest run with the present Python; empty before there is one. */
  public Optional<String> python() {
    return launcher.list().stream()
        .filter(run -> run.number() > lastWithOtherPython.get())
        .map(run -> run.launched().python())
        .filter(python -> !python.isEmpty())
        .findFirst();
  }

  /** Existing runs no longer tell the Python of the next one. */
  public void pythonChanged() {
    lastWithOtherPython.set(launcher.list().stream().mapToInt(RunView::number).max().orElse(0));
  }

  @Override
  public void close() {
    live.close();
    history.ifPresent(SessionHistory::close);
    forwards.close();
    launcher.close();
    sync.close();
    tasks.close();
  }
}
