package dev.gpush.app;

import dev.gpush.app.life.LoggedIncidents;
import dev.gpush.backends.hosts.local.SystemHost;
import dev.gpush.backends.kubernetes.ContextFinder;
import dev.gpush.backends.slurm.SbatchScripts;
import dev.gpush.backends.transport.openssh.HostFinder;
import dev.gpush.control.place.RunFolder;
import dev.gpush.control.place.ThisProcess;
import dev.gpush.control.server.ControlServer;
import dev.gpush.control.server.Limits;
import dev.gpush.control.wire.Greeting;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinder;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.PlaceSearch;
import dev.gpush.core.setup.Setup;
import dev.gpush.core.talk.GatewayPage;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.SessionRoutes;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.shell.command.ShellHandler;
import dev.gpush.shell.command.call.Services;
import dev.gpush.shell.console.Ticker;
import dev.gpush.shell.page.PageCommands;
import dev.gpush.shell.page.PageServer;
import dev.gpush.ssh.SshGateway;
import dev.gpush.ssh.files.OtherPeople;
import dev.gpush.ssh.files.SshAddress;
import dev.gpush.ssh.files.SshServerSettings;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.scan.WorkspaceRules;
import dev.gpush.templates.YamlConfigs;
import dev.gpush.templates.YamlRecipes;
import dev.gpush.templates.setup.OtherTools;
import dev.gpush.templates.setup.YamlSetup;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * All objects of a gateway, built by hand, each given what it needs, and closed in reverse order.
 * The control server is built last, so that clients can connect only when everything is ready.
 */
final class Wiring implements AutoCloseable {
  /** A cluster that is far away answers in two or three seconds. */
  private static final Duration PLAN_LIMIT = Duration.ofSeconds(5);

  private static final Path SITE = Path.of("/etc/gpush/site.yaml");

  private final HolderFile holder;
  private final ConfiguredBackends backends;
  private final GatewaySessions sessions;
  private final Transports transports;
  private final SshGateway ssh;
  private final PageServer page;
  private final ControlServer server;
  private final GatewayProcess process;

  private Wiring(
      HolderFile holder,
      ConfiguredBackends backends,
      GatewaySessions sessions,
      Transports transports,
      SshGateway ssh,
      PageServer page,
      ControlServer server,
      GatewayProcess process) {
    this.holder = holder;
    this.backends = backends;
    this.sessions = sessions;
    this.transports = transports;
    this.ssh = ssh;
    this.page = page;
    this.server = server;
    this.process = process;
  }

  static Wiring build(
      Home home, RunFolder folder, Services.Version version, GatewayProcess process, Tasks tasks)
      throws IOException {
    var environment = new HashMap<>(System.getenv());
    ThisProcess.restoreLocale(environment);
    var clock = Clock.system();
    var random = new SecureRandom();
    var configs = new YamlConfigs(home.path(), SITE, System.getProperty("user.name"));
    var agent = new AgentImage(tasks, random);
    var host =
        new SystemHost(
            Posix.hostName(),
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.name").equals("Linux"),
            home.path(),
            environment);
    var transports =
        new Transports(folder.path().resolve("ssh"), environment, host::spawn, random, tasks);
    String words = System.getProperty("user.name") + "@" + host.name() + ":" + home.path();
    HolderFile holder = HolderFile.take(home, words, MachineId.current(random), random);
    GatewayIdentity identity = identity(home, holder.holder(), configs, random);
    SessionTiming timing = timing(environment);
    var backends =
        new ConfiguredBackends(
            configs, host, agent, transports, words, timing.link(), clock, random, tasks);
    var plans = new FabricPlanner(new YamlRecipes());
    var gitPlaces = GitPlaces.of(environment);
    // The sessions and the ssh server need each other.
    var publish = new AtomicReference<Runnable>(() -> {});
    var sessions =
        new GatewaySessions(
            identity,
            backends,
            configs,
            plans,
            agent,
            gitPlaces,
            timing,
            clock,
            random,
            tasks,
            () -> publish.get().run());
    // Before ssh is listened for: an editor that connects again must not hear of no such session.
    sessions.recover();
    SessionRoutes routes = sessions.routes();
    SshGateway ssh =
        SshGateway.start(
            sshSettings(home, environment, socket(configs, home, folder)), routes, tasks, clock);
    publish.set(() -> ssh.publish(routes.published()));
    process.tells(
        () ->
            Json.object(
                "ssh", sshStatus(ssh.address()),
                "agents", agents(sessions)));
    // The page carries out commands, and one of them opens it.
    var page = new AtomicReference<GatewayPage>(new NoPage());
    var incidents = new LoggedIncidents(home.log());
    var services =
        new Services(
            sessions,
            sessions.runs(),
            configs,
            new WorkspaceRules(configs, gitPlaces),
            backends,
            new SbatchScripts(),
            plans,
            setup(home, configs, backends, host, clock, tasks),
            new Services.GatewayProcess(
                process,
                page::get,
                ssh.access(),
                new CopyFile(
                    home.path(),
                    folder.socket(),
                    version.build(),
                    environment.getOrDefault("GPUSH_LAUNCHER", "gpush")),
                home.log(),
                (command, bug) -> {
                  incidents.bug(command, bug);
                  return home.log();
                }),
            new Services.Timing(clock, Ticker.tenth(), PLAN_LIMIT),
            version);
    var handler = new ShellHandler(services);
    var pageServer =
        new PageServer(
            new PageCommands(handler, home.path(), sessions.runs().pictures().changes()),
            home.path().resolve("page.html"),
            clock,
            random,
            tasks);
    process.isUsedWhen(() -> ssh.isInUse() || pageServer.isInUse());
    if (ssh.address() instanceof SshAddress.Port) {
      page.set(pageServer);
    }
    var server =
        new ControlServer(
            folder.socket(),
            Greeting.of(version.build(), home.path().toString(), ProcessHandle.current().pid()),
            handler,
            process,
            incidents,
            Limits.STANDARD,
            clock,
            tasks);
    return new Wiring(holder, backends, sessions, transports, ssh, pageServer, server, process);
  }

  /** The finders of {@code gpush init}; the first one is this machine. */
  private static Setup setup(
      Home home, Configs configs, Backends backends, SystemHost host, Clock clock, Tasks tasks) {
    PlaceFinder here =
        _ ->
            List.of(
                new PlaceCheck(
                    "local",
                    "built in",
                    _ ->
                        new PlaceFinding.Here(
                            "local",
                            "built in",
                            backends.named("local").map(Backend::describe).orElse(""))));
    var contexts = new ContextFinder(clock);
    var hosts =
        new HostFinder(
            Path.of(System.getProperty("user.home")),
            home.path().resolve("ssh_config"),
            List.of(new OtherTools()),
            contexts,
            host::spawn,
            tasks);
    var search = PlaceSearch.brief(List.of(here, hosts, contexts), clock, tasks);
    return new YamlSetup(configs, home.path(), search);
  }

  /** For tests, and for networks that are worse than usual. */
  private static SessionTiming timing(Map<String, String> environment) {
    String contact = environment.getOrDefault("GPUSH_LINK_CONTACT", "");
    return contact.isEmpty()
        ? SessionTiming.usual()
        : SessionTiming.usual().withContact(DurationText.parse("GPUSH_LINK_CONTACT", contact));
  }

  private static GatewayIdentity identity(
      Home home, Holder holder, Configs configs, SecureRandom random) {
    return new GatewayIdentity(
        owner(configs, home).orElse(System.getProperty("user.name")),
        holder,
        RandomHex.of(random, 16),
        home.path());
  }

  /** The first command that needs a configuration reports why it cannot be read. */
  private static Optional<String> owner(Configs configs, Home home) {
    try {
      return configs.load(home.path()).text("owner");
    } catch (GpushException invalid) {
      return Optional.empty();
    }
  }

  /** A configuration with mistakes turns nothing off that is on by default. */
  private static Optional<String> gatewayWord(Configs configs, Home home) {
    try {
      return configs.load(home.path()).text("gateway.ssh");
    } catch (GpushException invalid) {
      return Optional.empty();
    }
  }

  private static SshServerSettings sshSettings(
      Home home, Map<String, String> environment, Optional<Path> socket) {
    return new SshServerSettings(
        home.path(),
        List.of(environment.getOrDefault("GPUSH_LAUNCHER", "gpush")),
        Path.of(System.getProperty("user.home"), ".ssh", "config"),
        socket,
        WindowsPrograms.wsl(environment));
  }

  /** Empty where a port of 127.0.0.1 may be used. */
  private static Optional<Path> socket(Configs configs, Home home, RunFolder folder)
      throws IOException {
    boolean isSocket =
        switch (gatewayWord(configs, home).orElse("auto")) {
          case "socket" -> true;
          case "port" -> false;
          default -> new OtherPeople().isAnybodyThere(RunFolder.userId());
        };
    return isSocket ? Optional.of(folder.sshSocket()) : Optional.empty();
  }

  /** Where no port of 127.0.0.1 may be used. */
  private static final class NoPage implements GatewayPage {
    @Override
    public URI open() {
      throw new GpushException(new GatewayFailure.PageBesideOthers());
    }

    @Override
    public Path file(URI address) {
      throw new GpushException(new GatewayFailure.PageBesideOthers());
    }
  }

  private static Json.Obj sshStatus(SshAddress address) {
    return switch (address) {
      case SshAddress.Port(var number) -> Json.object("host", "127.0.0.1", "port", number);
      case SshAddress.Socket(var path) -> Json.object("socket", path.toString());
    };
  }

  /** For {@code gateway status}: session, node, link and pid of every agent. */
  private static List<Json> agents(Sessions sessions) {
    var agents = new ArrayList<Json>();
    for (SessionView session : sessions.list()) {
      for (NodeView node : session.nodes()) {
        agents.add(
            Json.object(
                "session", session.name().text(),
                "node", node.info().index(),
                "link", node.link(),
                "pid", node.agentPid(),
                "python", node.python()));
      }
    }
    return agents;
  }

  /** Accepts clients; recovery of the last gateway's sessions has begun. */
  void start() {
    ssh.publish(sessions.routes().published());
    server.start();
  }

  /** Called every few seconds: restores files that cleaners of temporary folders removed. */
  void refresh() throws IOException {
    server.ensureBound();
    ssh.ensureBound();
  }

  /** Whether it has a session, also one that waits or is being released, or a client. */
  boolean isInUse() {
    return sessions.hasAny() || process.isInUse() || server.inUse() > 0;
  }

  /** Whether the home was removed, or is another folder now. */
  boolean hasLostHome() {
    return holder.isGone();
  }

  @Override
  public void close() throws IOException {
    server.close();
    page.close();
    ssh.drain(process.reason());
    ssh.close();
    sessions.close();
    backends.close();
    transports.close();
    holder.close();
  }
}
