package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.control.server.Invocation;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.BackendView;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.config.Setting;
import dev.gpush.core.config.TaskFile;
import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.BatchHeaders;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.Setup;
import dev.gpush.core.setup.SetupProposal;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.talk.CopyProgram;
import dev.gpush.core.talk.GatewayControl;
import dev.gpush.core.talk.GatewayPage;
import dev.gpush.core.talk.SshAccess;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.ShellWords;
import dev.gpush.shell.command.call.Services;
import dev.gpush.shell.console.Ticker;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.FakeSite;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.ManualClock;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A user in front of gpush, with fakes behind it: types lines and reads what comes. */
public final class Desk {
  public static final Path PROJECT = Path.of("/home/ann/proj");

  /** As Slurm's backend says it, after the place in the queue. */
  public static final String WAITS =
      " · ≈14:20 · jobs of higher priority come first · slurm job 4711";

  /** Of a batch script that asks for nothing. */
  private static final BatchHeaders NO_HEADERS =
      new BatchHeaders(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          List.of());

  /** What any batch script asks for. */
  public BatchHeaders headers = NO_HEADERS;

  /** What gpush init finds. */
  SetupProposal proposal =
      new SetupProposal(
          List.of(
              new SetupProposal.Found(
                  "local", "local", "8 CPUs, no GPUs", "this machine", "local", false),
              new SetupProposal.Found(
                  "hpc", "slurm", "a Slurm login", "~/.ssh/config:1", "hpc", true)),
          List.of(new PlaceFinding.Unusable("web", "~/.ssh/config:3", "no GPUs and no Slurm")),
          List.of(
              new PlaceFinding.Unasked(
                  "far", "~/.ssh/config:5", "is reached through hop", "gpush init far")),
          List.of(
              new SetupProposal.Change(
                  Path.of("/home/ann/.gpush/config.yaml"),
                  Optional.empty(),
                  "backends:\n  hpc:\n    kind: slurm\n",
                  "backends:\n  hpc:\n    kind: slurm\n")),
          "");

  /** The files that gpush init wrote, and the places that it was asked for. */
  final List<Path> written = new ArrayList<>();

  final List<String> placesAsked = new ArrayList<>();

  /** What any task file asks for. */
  public Optional<TaskFile> task = Optional.empty();

  public final ManualClock clock = new ManualClock();

  /** Starts what shows the time; by itself it never ticks. */
  public Ticker ticker = _ -> () -> {};

  public final FakeSessions sessions = new FakeSessions(clock);
  public final FakeRuns runs = new FakeRuns(clock, sessions);
  final Map<String, String> environment = new HashMap<>(Map.of("HOME", "/home/ann"));
  final List<String> gatewayCalls = new ArrayList<>();
  public final List<Throwable> bugs = new ArrayList<>();
  public Path folder = PROJECT;
  Path log = Path.of("/home/ann/.gpush/logs/gateway.log");
  Optional<Failure> configFailure = Optional.empty();
  List<Config.Unsupported> unsupported = List.of();

  public Function<String, SendReason> sendReason =
      path ->
          new SendReason(
              path, SendReason.Kind.MISSING, SendReason.Verdict.SENT, path, Optional.empty(), "");

  public final ShellHandler handler;

  public Desk() {
    this(Duration.ofMinutes(1));
  }

  /**
   * @param limit how long backends may take to say what they would grant
   */
  public Desk(Duration limit) {
    handler =
        new ShellHandler(
            new Services(
                sessions,
                runs,
                new FakeConfigs(),
                (_, path) -> sendReason.apply(path),
                new FakeBackends(),
                (_, _) -> headers,
                (gang, environment) -> plan(gang, environment),
                new FakeSetup(),
                new Services.GatewayProcess(
                    new FakeGateway(),
                    FakePage::new,
                    new FakeSsh(),
                    new FakeCopy(),
                    log,
                    (_, bug) -> {
                      bugs.add(bug);
                      return log;
                    }),
                new Services.Timing(clock, tick -> ticker.start(tick), limit),
                new Services.Version("0.1.0", "3f9a1c")));
  }

  /** Tells what it was given. */
  private static FabricPlan plan(Json gang, List<UserVariable> environment) {
    int nodes = gang.items().size();
    NodeSet first = NodeSet.of(0);
    var variables = new ArrayList<PlannedVariable>();
    variables.add(
        new PlannedVariable(
            "NCCL_IB_HCA", Optional.empty(), first, "no RDMA device", "NCCL", Authority.NCCL));
    for (UserVariable each : environment) {
      variables.add(
          new PlannedVariable(
              each.name(),
              Optional.of(each.value()),
              first,
              "kept",
              each.origin(),
              Authority.USER));
    }
    List<FabricFinding> findings =
        gang.items().stream()
            .flatMap(node -> node.text("broken").stream())
            .map(
                what ->
                    new FabricFinding(Severity.REFUSED, "broken", first, what, "a hang", "down"))
            .toList();
    return new FabricPlan(
        nodes,
        nodes + " nodes",
        ExpectedNetwork.named("TCP over eth0 (100G)"),
        variables,
        List.of(),
        findings);
  }

  /** A variable of the clients from now on. */
  public void environment(String name, String value) {
    environment.put(name, value);
  }

  public FakeInvocation client(String line) {
    List<String> words = ShellWords.scan(line).lines().getFirst().words();
    return new FakeInvocation(words.subList(1, words.size()), folder, Map.copyOf(environment));
  }

  public int call(Invocation client) {
    return handler.handle(client);
  }

  /**
   * Types every line that begins with a dollar sign and expects the lines behind it: standard error
   * behind "2> ", a question and its answer behind "?> ", an exit status other than 0 behind "? ".
   */
  public void expect(String transcript, String... answers) {
    var actual = new StringBuilder();
    for (String line : transcript.lines().toList()) {
      if (line.startsWith("$ ")) {
        FakeInvocation client = client(line.substring(2)).answering(answers);
        int status = call(client);
        actual.append(line).append('\n').append(client.both());
        actual.append(status == 0 ? "" : "? " + status + "\n");
      }
    }
    assertEquals(transcript, actual.toString());
  }

  private final class FakeSetup implements Setup {
    @Override
    public SetupProposal propose(SetupQuestion question) {
      placesAsked.addAll(question.names());
      return proposal;
    }

    @Override
    public void write(SetupProposal.Change change) {
      written.add(change.file());
    }
  }

  private final class FakeConfigs implements Configs {
    @Override
    public TaskFile task(String file, Path path) {
      return task.orElseThrow();
    }

    @Override
    public Config load(Path from) {
      configFailure.ifPresent(
          failure -> {
            throw new GpushException(failure);
          });
      return new Config(
          root(from),
          "nearest gpush.yaml",
          List.of(
              new Setting("nodes", Json.of(2), "2", "gpush.yaml:1"),
              new Setting("lease.idle", Json.of(3600), "1h", "built in"),
              new Setting(
                  "backends", Json.of(List.of("local", "hpc")), "local, hpc", "config.yaml:3"),
              new Setting("owner", Json.of("ann"), "ann", "login name"),
              new Setting("backends.hpc.kind", Json.of("slurm"), "slurm", "config.yaml:4")),
          List.of(),
          List.of("local", "hpc"),
          unsupported);
    }

    /** A folder without a session above it is a workspace of its own. */
    private Path root(Path from) {
      return sessions.all.values().stream()
          .map(SessionView::root)
          .filter(from::startsWith)
          .findFirst()
          .orElse(from.startsWith(PROJECT) ? PROJECT : from);
    }

    @Override
    public List<Template> templates(Path from) {
      return List.of(
          new Template("local", "CPU nodes on this machine", "nodes: 2\n", "built in"),
          new Template("slurm", "A gang on a Slurm cluster", "nodes: 4\n", "built in"));
    }
  }

  private static final class FakeBackends implements Backends {
    @Override
    public List<Backend> of(Config config) {
      return List.of();
    }

    @Override
    public Optional<Backend> named(String name) {
      var site = new FakeSite(Path.of("/nowhere"), 1, new ManualClock(), FakeTrouble.none(1));
      return Optional.of(name).filter("local"::equals).map(each -> FakeBackend.bare(each, site));
    }

    @Override
    public List<BackendView> views(Config config) {
      return List.of(
          new BackendView("local", "local", true, "8 CPUs, no GPUs", "built in"),
          new BackendView("hpc", "slurm", false, "no such Host in ~/.ssh/config", "config.yaml:3"));
    }
  }

  private final class FakeGateway implements GatewayControl {
    @Override
    public Json status() {
      return Json.object(
          "pid",
          4711,
          "version",
          "0.1.0",
          "agents",
          List.of(Json.object("session", "devbox", "node", 0, "link", "up")),
          "sessions",
          List.of());
    }

    @Override
    public void stop() {
      gatewayCalls.add("stop");
    }
  }

  private static final class FakePage implements GatewayPage {
    @Override
    public URI open() {
      return URI.create("http://127.0.0.1:4711/?token=51a0f3");
    }

    @Override
    public Path file(URI address) {
      return Path.of("/home/ann/.gpush/page.html");
    }
  }

  private static final class FakeCopy implements CopyProgram {
    @Override
    public Path file() {
      return Path.of("/home/ann/.gpush/copy.pyz");
    }

    @Override
    public Json.Obj place() {
      return Json.object("socket", "/tmp/gpush/gateway.sock");
    }
  }

  private final class FakeSsh implements SshAccess {
    @Override
    public Path configFile() {
      return Path.of("/home/ann/.gpush/ssh_config");
    }

    @Override
    public String configText() {
      return "Host devbox\n";
    }

    @Override
    public boolean isLinked() {
      return false;
    }

    @Override
    public void link(Talk talk) {
      talk.confirm("add one Include line to ~/.ssh/config?", "--yes");
      talk.say("linked: ssh devbox works now");
    }

    @Override
    public void unlink(Talk talk) {
      talk.say("removed the Include line from ~/.ssh/config");
    }
  }
}
