package dev.gpush.gateway.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.BackendView;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.session.UpRequest.Existing;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.templates.YamlConfigs;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.FakeSite;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.ManualClock;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * One home, one pretended site with real agents, and as many gateways over them as a test starts,
 * one after the other. What is still held at the end is released.
 */
public final class SessionRig implements AutoCloseable {
  /** Ends a test that hangs; no machine that works is so slow. */
  public static final Duration DEADLINE = Duration.ofMinutes(2);

  public static final SessionName DEVBOX = new SessionName("devbox");

  /** The configuration's only backend; that it is pretended is nobody's business. */
  static final String BACKEND = "local";

  private static final Duration LOOK_AGAIN = Duration.ofMillis(5);
  public static final Duration SHORT = Duration.ofMillis(50);

  private final Path folder;
  private final Tasks tasks = Tasks.named("rig", (_, failure) -> failure.printStackTrace());
  private final SecureRandom random = new SecureRandom();
  private final AgentImage agent = new AgentImage(tasks, random);
  private final ManualClock siteClock = new ManualClock();
  private final AtomicReference<Duration> days = new AtomicReference<>(Duration.ZERO);
  private final FakeSite site;
  private final FakeTrouble trouble;
  private final FakeBackend backend;
  private final Configs configs;
  private final List<GatewaySessions> started = new ArrayList<>();

  SessionRig(FakeTrouble trouble) throws IOException {
    this(trouble, Map.of());
  }

  /**
   * @param instead modules of the agents, as {@link AgentImage} takes them
   */
  SessionRig(FakeTrouble trouble, Map<String, String> instead) throws IOException {
    this.folder = Files.createTempDirectory("gpush-sessions-");
    this.trouble = trouble;
    this.site = new FakeSite(folder.resolve("nodes"), 8, siteClock, trouble);
    this.backend = FakeBackend.withAgents(BACKEND, site, new AgentImage(tasks, random, instead));
    this.configs = new YamlConfigs(home(), folder.resolve("no-site.yaml"), "ann");
    Files.createDirectories(home());
    // Most tests count generations, so nothing may be sent but by their commands.
    Files.writeString(config(), "defaults: {sync: {mode: manual}}\n");
  }

  private Path config() {
    return home().resolve("config.yaml");
  }

  /** A calm one in which saves are sent by themselves, as they are for users. */
  public static SessionRig live() throws IOException {
    SessionRig rig = calm();
    Files.writeString(rig.config(), "");
    return rig;
  }

  public static SessionRig calm() throws IOException {
    return new SessionRig(FakeTrouble.none(1));
  }

  Path home() {
    return folder.resolve("home");
  }

  public Path path(String name) {
    return folder.resolve(name);
  }

  public FakeTrouble trouble() {
    return trouble;
  }

  public FakeSite site() {
    return site;
  }

  public FakeBackend backend() {
    return backend;
  }

  Configs configs() {
    return configs;
  }

  public Tasks tasks() {
    return tasks;
  }

  public Ledger ledger() {
    return new Ledger(home().resolve("ledger"));
  }

  /** A gateway that is closed at the end at the latest. */
  public GatewaySessions gateway() {
    GatewaySessions service = gateway(home(), List.of(backend), tasks);
    started.add(service);
    return service;
  }

  /**
   * A gateway before these backends.
   *
   * @param grace that others get once one of them could grant now
   */
  public GatewaySessions gateway(List<Backend> all, Duration grace) {
    GatewaySessions service = gateway(home(), "me@here", all, tasks, grace);
    started.add(service);
    return service;
  }

  AgentImage agent() {
    return agent;
  }

  /** The same for another home, as of another laptop. */
  public GatewaySessions gateway(Path home, String holder) throws IOException {
    Files.createDirectories(home);
    GatewaySessions service = gateway(home, holder, List.of(backend), tasks);
    started.add(service);
    return service;
  }

  GatewaySessions gateway(Path home, List<Backend> all, Tasks its) {
    return gateway(home, "me@here", all, its);
  }

  private GatewaySessions gateway(Path home, String holder, List<Backend> all, Tasks its) {
    return gateway(home, holder, all, its, DEADLINE);
  }

  private GatewaySessions gateway(
      Path home, String holder, List<Backend> all, Tasks its, Duration grace) {
    return gateway(identity(home, new Holder(holder)), all, its, grace);
  }

  /** A gateway of this home that says who it is in another way than the one before. */
  GatewaySessions gateway(Holder holder, List<Backend> all) {
    GatewaySessions service = gateway(identity(home(), holder), all, tasks, DEADLINE);
    started.add(service);
    return service;
  }

  private GatewayIdentity identity(Path home, Holder holder) {
    return new GatewayIdentity("me", holder, RandomHex.of(random, 16), home);
  }

  private GatewaySessions gateway(
      GatewayIdentity identity, List<Backend> all, Tasks its, Duration grace) {
    return new GatewaySessions(
        identity,
        new Given(all),
        configs,
        new FabricPlanner(List::of),
        agent,
        GitPlaces.of(Map.of("HOME", folder.toString(), "GIT_CONFIG_NOSYSTEM", "1")),
        new SessionTiming(SHORT, SHORT, DEADLINE, grace, DEADLINE, LinkTiming.usual()),
        new Calendar(days),
        random,
        its,
        () -> {});
  }

  /** As if so much time had gone by for calendars; timers do not notice. */
  void letPass(Duration time) {
    days.updateAndGet(time::plus);
  }

  private record Calendar(AtomicReference<Duration> ahead) implements Clock {
    @Override
    public Instant now() {
      return Clock.system().now().plus(ahead.get());
    }

    @Override
    public long nanos() {
      return Clock.system().nanos();
    }
  }

  /** These backends, whatever the configuration says. */
  private record Given(List<Backend> all) implements Backends {
    @Override
    public List<Backend> of(Config config) {
      return all;
    }

    @Override
    public Optional<Backend> named(String name) {
      return all.stream().filter(each -> each.name().equals(name)).findFirst();
    }

    @Override
    public List<BackendView> views(Config config) {
      return List.of();
    }
  }

  /** A project folder with one file. */
  public Path project(String name) throws IOException {
    Path project = folder.resolve(name);
    Files.createDirectories(project);
    Files.writeString(project.resolve("train.py"), "print('hello')\n");
    return project;
  }

  public static UpRequest ask(Path project) {
    return UpRequest.of(project, Map.of());
  }

  public static UpRequest ask(Path project, int nodes) {
    UpRequest asked = ask(project);
    return asked.wanting(asked.wanted().size(Optional.of(nodes), Optional.empty()));
  }

  public static UpRequest sized(UpRequest asked, int nodes, String gpus) {
    Optional<GpuRequest> each = Optional.of(GpuRequest.parse(gpus));
    return asked.wanting(asked.wanted().size(Optional.of(nodes), each));
  }

  public static UpRequest replacing(UpRequest asked) {
    return asked.onExisting(Existing.REPLACE);
  }

  public static UpRequest discarding(UpRequest asked) {
    return asked.onExisting(Existing.REPLACE_AND_DISCARD);
  }

  /** As {@code run} asks: any session of the folder will do. */
  static UpRequest attaching(UpRequest asked) {
    return asked.onExisting(Existing.TAKE_ANY);
  }

  static UpRequest ending(UpRequest asked, Duration hardEnd) {
    return asked.leased(new UpRequest.Lease(Optional.of(hardEnd), asked.lease().idle()));
  }

  static UpRequest idling(UpRequest asked, Duration idle) {
    return asked.leased(new UpRequest.Lease(asked.lease().hardEnd(), Optional.of(idle)));
  }

  /** What the site holds; asked until the answer is not a pretended failure. */
  public List<Discovered> held() {
    while (true) {
      try {
        return backend.discover("me");
      } catch (GpushException pretended) {
        if (Thread.currentThread().isInterrupted()) {
          throw pretended;
        }
      }
    }
  }

  /** No gang, no session, no entry that is not over, no files of one. */
  public void assertNothingLeft(GatewaySessions gateway) {
    assertEquals(List.of(), held().stream().map(Discovered::gang).toList());
    assertEquals(List.of(), gateway.list());
    assertEquals(List.of(), ledger().load().stream().filter(e -> !e.state().isOver()).toList());
    String[] files = home().resolve("sessions").toFile().list();
    assertEquals(List.of(), files == null ? List.of() : List.of(files));
  }

  public void assertOneGang() {
    assertEquals(1, held().size());
  }

  public GangId gang(SessionView view) {
    return ledger().load().stream()
        .filter(entry -> entry.id().equals(view.id()))
        .findFirst()
        .orElseThrow()
        .gang();
  }

  public static void until(String what, BooleanSupplier isTrue) {
    until(() -> what, isTrue);
  }

  /**
   * Waits.
   *
   * @param what in words, asked for when it did not come
   */
  public static void until(Supplier<String> what, BooleanSupplier isTrue) {
    long start = System.nanoTime();
    while (!isTrue.getAsBoolean()) {
      if (System.nanoTime() - start > DEADLINE.toNanos()) {
        fail("not within " + DEADLINE.toSeconds() + " s: " + what.get());
      }
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
  }

  public static List<SessionState> states(GatewaySessions gateway) {
    return gateway.list().stream().map(SessionView::state).toList();
  }

  /** Every session is ready, leaked or gone. */
  public static void awaitSettled(GatewaySessions gateway) {
    until(
        "all sessions are ready or leaked",
        () ->
            states(gateway).stream()
                .allMatch(state -> state == SessionState.READY || state == SessionState.LEAKED));
  }

  @Override
  public void close() throws IOException {
    for (GatewaySessions service : started) {
      service.close();
    }
    try {
      for (Discovered left : held()) {
        releaseSurely(left);
      }
    } finally {
      tasks.close();
      FolderTree.delete(folder);
    }
  }

  private void releaseSurely(Discovered left) {
    while (true) {
      try {
        backend.release(left.gang(), DEADLINE);
        return;
      } catch (GpushException pretended) {
        // Asked again.
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
