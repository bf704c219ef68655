package dev.gpush.shell.command;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Work;
import dev.gpush.core.text.Nearest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Sessions in memory; remembers what it was asked. */
public final class FakeSessions implements Sessions {
  private final Clock clock;
  public final Map<String, SessionView> all = new LinkedHashMap<>();
  public final List<UpRequest> asked = new ArrayList<>();
  public final List<String> calls = new ArrayList<>();
  public final Map<String, Plan> plans = new LinkedHashMap<>();
  final List<Finding> findings = new ArrayList<>();
  public final List<EndedRequest> ended = new ArrayList<>();
  final List<PortForward> forwards = new ArrayList<>();

  /** What a request that is detached waits for; empty: it is there at once. */
  Optional<String> queue = Optional.empty();

  List<String> kept = List.of();
  List<String> chosen = List.of();
  String why = "";
  Map<String, Outlook.Smaller> smaller = Map.of();
  Map<String, JobsAhead> ahead = Map.of();

  /** What happens while backends are asked for a plan. */
  Work<Boolean, RuntimeException> planning = () -> true;

  /** How long the start of the next sessions took. */
  Trace trace = Trace.none();

  Optional<Failure> failure = Optional.empty();

  /** What happens while nodes are asked for. */
  public Consumer<Talk> waiting = _ -> {};

  public Optional<String> questionOnDown = Optional.empty();
  public Optional<String> runInProgress = Optional.empty();
  List<Integer> stopped = List.of();

  /** Runs while a session is given back. */
  public Runnable goingDown = () -> {};

  /** What the end of any session would mean. */
  Ending ending = new Ending(List.of(), Optional.empty());

  FakeSessions(Clock clock) {
    this.clock = clock;
  }

  /** A ready session of CPU nodes, twelve minutes old. */
  public SessionView add(String name, Path root, int nodes, GpuRequest gpus) {
    SessionView view = view(name, root, nodes, gpus, false);
    all.put(name, view);
    return view;
  }

  public void change(SessionView view) {
    all.put(view.name().text(), view);
  }

  private SessionView view(String name, Path root, int nodes, GpuRequest gpus, boolean isNew) {
    Instant created = isNew ? clock.now() : clock.now().minus(Duration.ofMinutes(12));
    Duration idleLeft = isNew ? Duration.ofHours(1) : Duration.ofMinutes(48);
    return new SessionView(
        new SessionView.Identity("1f2e", new SessionName(name), root, "ann", created),
        new SessionView.Status(SessionState.READY, "", Optional.empty(), false, trace),
        new SessionView.Place("local", "00112233aabbccdd", nodes, gpus, Optional.empty()),
        new SessionView.Lease(
            Optional.empty(),
            Optional.of(idleLeft),
            "idle for 12m",
            List.of(Duration.ofMinutes(30))),
        new SessionView.Work(
            IntStream.range(0, nodes).mapToObj(index -> node(index, gpus)).toList(),
            Optional.of(1L),
            0,
            "/usr/bin/python3"),
        isNew);
  }

  private static NodeView node(int index, GpuRequest gpus) {
    List<String> slots =
        IntStream.range(0, gpus.isNone() ? 4 : gpus.count()).mapToObj(slot -> "" + slot).toList();
    return new NodeView(
        new NodeInfo(
            index, "lab1", "127.0.0.1", slots, gpus.model().orElse(""), 8, "/w/" + index + "/proj"),
        "up",
        Optional.of(1L),
        0,
        "/usr/bin/python3",
        4000 + index,
        "idle 12m");
  }

  /** Whether this session is there, or one of this folder. */
  boolean has(Optional<SessionName> name, Path folder) {
    return find(name, folder).isPresent();
  }

  Optional<SessionView> find(Optional<SessionName> name, Path folder) {
    return all.values().stream()
        .filter(
            view -> name.map(view.name()::equals).orElseGet(() -> folder.startsWith(view.root())))
        .findFirst();
  }

  /** One that is made for a run. */
  SessionView make(RunTarget target, RunRequest request) {
    return make(
        target.session(),
        request.command().folder(),
        request.claim().nodes(),
        request.claim().gpus());
  }

  private SessionView make(
      Optional<SessionName> named,
      Path folder,
      Optional<Integer> nodes,
      Optional<GpuRequest> gpus) {
    String name = named.map(SessionName::text).orElse("devbox");
    SessionView made = view(name, folder, nodes.orElse(1), gpus.orElse(GpuRequest.none()), true);
    all.put(name, made);
    return made;
  }

  private void failing() {
    failure.ifPresent(
        now -> {
          throw new GpushException(now);
        });
  }

  @Override
  public SessionView up(UpRequest request, Talk talk) {
    asked.add(request);
    waiting.accept(talk);
    failing();
    return find(request.name(), request.origin().folder())
        .orElseGet(
            () ->
                make(
                    request.name(),
                    request.origin().folder(),
                    request.wanted().nodes(),
                    request.wanted().gpus()));
  }

  @Override
  public SessionView upDetached(UpRequest request, Talk talk) {
    SessionView made = up(request, talk);
    calls.add("detached");
    return queue.map(words -> queued(made, words)).orElse(made);
  }

  /** In a queue, with these words about it. */
  private SessionView queued(SessionView view, String words) {
    SessionView queued = new ViewChange(view).queued(words).view();
    all.put(view.name().text(), queued);
    return queued;
  }

  @Override
  public boolean giveUp(SessionName name, Talk talk) {
    boolean waits = all.get(name.text()).state() == SessionState.QUEUED;
    if (waits) {
      calls.add("give up " + name);
      all.remove(name.text());
    }
    return waits;
  }

  @Override
  public List<EndedRequest> ended() {
    return ended;
  }

  @Override
  public Outlook plan(UpRequest request) throws InterruptedException {
    asked.add(request);
    planning.run();
    return outlook();
  }

  Outlook outlook() {
    List<Outlook.Offer> offers =
        plans.entrySet().stream()
            .map(
                each ->
                    new Outlook.Offer(
                        each.getKey(),
                        new Outlook.Answer.Planned(each.getValue()),
                        Optional.empty(),
                        false))
            .toList();
    return new Outlook(offers, chosen, why, smaller);
  }

  @Override
  public Map<String, JobsAhead> ahead(SessionName name) {
    return ahead;
  }

  @Override
  public List<SessionView> list() {
    failing();
    return List.copyOf(all.values());
  }

  @Override
  public SessionView choose(Optional<String> name, Path folder) {
    failing();
    List<String> known = List.copyOf(all.keySet());
    if (name.isPresent()) {
      return Optional.ofNullable(all.get(name.get()))
          .orElseThrow(
              () ->
                  new GpushException(
                      new UsageFailure.UnknownSession(
                          name.get(), Nearest.to(name.get(), known), known)));
    }
    return all.values().stream()
        .filter(view -> folder.startsWith(view.root()))
        .findFirst()
        .or(() -> all.values().stream().filter(_ -> all.size() == 1).findFirst())
        .orElseThrow(() -> new GpushException(new UsageFailure.WhichSession(known)));
  }

  @Override
  public GivenBack down(SessionName name, boolean discard, Talk talk) throws InterruptedException {
    failing();
    goingDown.run();
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    runInProgress.filter(_ -> !discard).ifPresent(run -> talk.confirm(run, "--yes"));
    questionOnDown.filter(_ -> !discard).ifPresent(question -> talk.confirm(question, "--discard"));
    calls.add("down " + name + (discard ? " discard" : ""));
    all.remove(name.text());
    stopped.forEach(run -> talk.say("stopped run " + run));
    return new GivenBack(stopped, kept);
  }

  @Override
  public Ending ending(SessionName name, Talk talk) {
    failing();
    return ending;
  }

  @Override
  public SessionView extend(SessionName name, Optional<Duration> fromNow) {
    failing();
    calls.add("extend " + name + " " + fromNow);
    SessionView view = all.get(name.text());
    return new ViewChange(view).hardEnd(fromNow).idle(Duration.ofHours(1)).view();
  }

  @Override
  public Extension previewExtend(SessionName name, Optional<Duration> fromNow) {
    failing();
    return new Extension(fromNow, Duration.ofHours(1), fromNow.isPresent());
  }

  @Override
  public long sync(SessionName name, boolean overwrite, Talk talk) {
    failing();
    calls.add("sync " + name + (overwrite ? " overwrite" : ""));
    return 43;
  }

  public SyncView.Preview syncPreview = SyncView.Preview.nothing();

  @Override
  public SyncView.Preview previewSync(SessionName name, boolean overwrite, Talk talk) {
    failing();
    return syncPreview;
  }

  @Override
  public long keep(SessionName name, KeepRequest request, Talk talk) {
    failing();
    calls.add("keep " + name + " " + request.side() + " " + request.paths());
    return 44;
  }

  public int editNode;
  SyncView syncState = SyncView.none();

  @Override
  public SyncView syncState(SessionName name) {
    failing();
    return syncState;
  }

  @Override
  public SyncView pauseSync(SessionName name) {
    failing();
    calls.add("pause " + name);
    return syncState;
  }

  @Override
  public SyncView resumeSync(SessionName name) {
    failing();
    calls.add("resume " + name);
    return syncState;
  }

  @Override
  public void pull(SessionName name, int node, String path, Talk talk) {
    failing();
    calls.add("pull " + name + " " + node + " " + path);
  }

  @Override
  public List<Finding> endForgotten(Talk talk) {
    return List.of();
  }

  @Override
  public SessionView adopt(Optional<String> which, boolean take, Path folder, Talk talk) {
    return choose(which, folder);
  }

  @Override
  public List<PortForward> forwards(SessionName name) {
    return List.copyOf(forwards);
  }

  @Override
  public List<PortForward> forward(SessionName name, PortTarget target, Optional<Integer> local) {
    int nodes = all.get(name.text()).size();
    List<PortForward> added =
        target
            .node()
            .map(List::of)
            .orElseGet(() -> IntStream.range(0, nodes).boxed().toList())
            .stream()
            .map(node -> new PortForward(node, target.port(), local.orElse(target.port() + node)))
            .toList();
    forwards.addAll(added);
    return added;
  }

  @Override
  public Optional<PortForward> unforward(SessionName name, int local) {
    Optional<PortForward> known =
        forwards.stream().filter(each -> each.local() == local).findFirst();
    known.ifPresent(forwards::remove);
    return known;
  }

  @Override
  public int editNode(SessionName name) {
    return editNode;
  }

  @Override
  public String place(SessionName name, int node) {
    return "/home/ann/gpush/" + name + (node == 0 ? "" : "-" + node) + "/proj";
  }

  @Override
  public List<Finding> doctor() {
    return findings;
  }
}
