package dev.gpush.backends.hosts.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.rack.Host;
import dev.gpush.backends.hosts.rack.HostAgents;
import dev.gpush.backends.hosts.rack.HostChoice.Seat;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.hosts.rack.Survey;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** CPU nodes, what a node starts from, and machines on which none can be. */
@Execution(ExecutionMode.CONCURRENT)
final class LocalNodesTest {
  @TempDir private Path folder;

  @Test
  @Tag("local")
  void withoutGpusAskedThereAreAsManyNodesAsAskedFor() throws Exception {
    try (LocalPlace place = LocalPlace.of(folder.resolve("home"), folder.resolve("machine"))) {
      Gang all =
          place.backend().reserve(place.request(1, "" + LocalPlace.GPUS, BackendContract.LONG));

      Gang cpus = place.backend().reserve(place.request(10, "0", BackendContract.LONG));

      assertEquals(10, cpus.nodes().size());
      for (NodeInfo node : cpus.nodes()) {
        assertEquals(List.of("0"), node.slots());
        assertEquals("", node.gpuModel());
      }
      assertEquals(List.of(), place.backend().release(cpus, BackendContract.LIMIT));
      assertEquals(List.of(), place.backend().release(all, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void anotherHomeOfTheSameUserIsAnotherWorld() throws Exception {
    try (LocalPlace place = LocalPlace.of(folder.resolve("home"), folder.resolve("machine"));
        LocalPlace other = LocalPlace.of(folder.resolve("home2"), folder.resolve("machine"))) {
      place.backend().reserve(place.request(1, "0", BackendContract.LONG));

      assertEquals(List.of(), other.backend().discover(LocalPlace.OWNER));
      assertEquals(1, place.backend().discover(LocalPlace.OWNER).size());
    }
  }

  @Test
  void aHomeThatCannotBeWrittenIsSaidAndHoldsNothing() throws Exception {
    Path machine = folder.resolve("machine");
    try (LocalPlace place = LocalPlace.of(folder.resolve("home"), machine)) {
      Files.writeString(place.home().resolve("nodes"), "in the way");
      GangRequest request = place.request(2, BackendContract.LONG);

      Failure failure =
          assertThrows(GpushException.class, () -> place.backend().reserve(request)).failure();

      assertInstanceOf(AgentFailure.CannotWrite.class, failure);
      Files.delete(place.home().resolve("nodes"));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void withoutAnyPythonThatIsWhatIsSaid() throws Exception {
    try (LocalPlace place = LocalPlace.of(folder.resolve("home"), folder.resolve("machine"));
        Tasks tasks = Tasks.named("no-python", (_, _) -> {})) {
      var nothing =
          backend(
              new RecordingHost(folder.resolve("home"), "none"),
              new Recorder(_ -> Optional.of(new AgentFailure.NoPython(Rack.INTERPRETERS))),
              tasks);

      Failure failure =
          assertThrows(
                  GpushException.class,
                  () -> nothing.reserve(place.request(1, "0", BackendContract.LONG)))
              .failure();

      assertInstanceOf(AgentFailure.NoPython.class, failure);
      GangId id = place.request(1, "0", BackendContract.LONG).gang();
      var unknown = new Gang(id, "local", List.of(), "");
      assertEquals(List.of(), nothing.release(unknown, BackendContract.LIMIT));
      Files.createDirectories(folder.resolve("home/nodes").resolve(id.text()));
      assertEquals(
          new BackendFailure.NotReleased("local", id.text(), FailureText.clause(failure)),
          assertThrows(GpushException.class, () -> nothing.release(unknown, BackendContract.LIMIT))
              .failure());
    }
  }

  /** Up to eight are started at once; any of them may run when one of them has failed. */
  @Test
  void whenOneOfSeveralMeetsALockAllAreReleasedBeforeTheNextTry() throws Exception {
    try (Tasks tasks = Tasks.named("held", (_, _) -> {})) {
      Recorder recorder = heldOnce();

      Gang gang = backend(new RecordingHost(folder, "none"), recorder, tasks).reserve(request(3));

      assertEquals(3, gang.nodes().size());
      Set<Integer> released =
          recorder.asked.stream()
              .filter(header -> header.object("control").text("do").orElse("").equals("release"))
              .map(header -> header.integer("node").orElseThrow())
              .collect(Collectors.toSet());
      assertEquals(Set.of(0, 1, 2), released);
    }
  }

  /** As of a file server that is away. It was asked again and again for six minutes. */
  @Test
  void aProcessThatDoesNotEndIsNamedAtTheRelease() {
    try (Tasks tasks = Tasks.named("stuck", (_, _) -> {})) {
      var recorder = new Recorder();
      recorder.released = Optional.of(Json.object("left", List.of("python3 (pid 7)")));
      var id = new GangId("0123456789abcdef");
      var gang = new Gang(id, "local", List.of(node(List.of(), "", "/w")), "");
      HostsBackend backend = backend(new RecordingHost(folder, "none"), recorder, tasks);

      Failure failure =
          assertThrows(GpushException.class, () -> backend.release(gang, BackendContract.LIMIT))
              .failure();

      assertEquals(
          new BackendFailure.NotReleased(
              "local", id.text(), "SIGKILL does not end python3 (pid 7) on here"),
          failure);
    }
  }

  /** Another one may not answer, and has nothing of it. */
  @Test
  void whenTheOnlyNodeMeetsALockNoOtherHostIsAskedForTheGang() throws Exception {
    try (Tasks tasks = Tasks.named("held", (_, _) -> {})) {
      Recorder recorder = heldOnce();

      backend(new RecordingHost(folder, "none"), recorder, tasks).reserve(request(1));

      assertEquals(
          1, recorder.asked.stream().filter(header -> mode(header).equals("list")).count());
    }
  }

  private static String mode(Json header) {
    return header.text("mode").orElse("");
  }

  /** The first start of node 0 meets a lock. */
  private static Recorder heldOnce() {
    var isFirst = new AtomicBoolean(true);
    return new Recorder(
        header ->
            mode(header).equals("start")
                    && header.integer("node").equals(Optional.of(0))
                    && isFirst.getAndSet(false)
                ? Optional.of(new AgentFailure.Held("gpu 0", "ann"))
                : Optional.empty());
  }

  private static HostsBackend backend(LocalHost host, AgentProgram agent, Tasks tasks) {
    Rack rack = LocalPlace.rack(host, Json.object());
    return new HostsBackend(rack, agent, new SecureRandom(), tasks);
  }

  @Test
  void aNodeSeesItsOwnGpusAndACpuNodeNone() throws Exception {
    try (Tasks tasks = Tasks.named("variables", (_, _) -> {})) {
      var recorder = new Recorder();
      Rack rack =
          LocalPlace.rack(new RecordingHost(folder, "/gateway/bin"), Json.object())
              .forClient(Map.of("PATH", "/client/bin", "CONDA_PREFIX", "/conda", "SECRET", "x"));
      var agents = new HostAgents(recorder, rack, tasks);
      GangRequest request =
          request(1)
              .with(
                  new GangRequest.Variables(
                      Map.of("CUDA_VISIBLE_DEVICES", "0,1,2,3", "GPUSH_SESSION", "devbox"),
                      Map.of()));
      String workspace = folder.resolve("nodes/0123456789abcdef/0/project").toString();
      var secret = PeerSecret.random(new SecureRandom());
      Host host = rack.hosts().getFirst();
      var seat = new Seat(new Survey(host, "here", "", 2, "", List.of(), ""), List.of());

      agents.start(request, seat, node(List.of("2", "5"), "H100", workspace), secret);
      agents.start(request, seat, node(List.of("0"), "", workspace), secret);
      agents.start(request, seat, node(List.of("1"), "AMD", workspace), secret);

      List<Map<String, String>> seen =
          recorder.asked.stream()
              .map(header -> header.object("start").object("env").textMap())
              .toList();
      assertEquals(Optional.of("/cache/gpush/agent"), recorder.asked.element().text("compiled"));
      assertEquals("2,5", seen.get(0).get("CUDA_VISIBLE_DEVICES"));
      assertEquals("PCI_BUS_ID", seen.get(0).get("CUDA_DEVICE_ORDER"));
      assertEquals("", seen.get(1).get("CUDA_VISIBLE_DEVICES"));
      assertEquals("1", seen.get(2).get("HIP_VISIBLE_DEVICES"));
      assertEquals(
          Map.of(
              "CUDA_VISIBLE_DEVICES", "",
              "GPUSH_SESSION", "devbox",
              "PATH", "/client/bin",
              "CONDA_PREFIX", "/conda",
              "USER", "me"),
          seen.get(1));
    }
  }

  /** As of another version. */
  @Test
  void anAgentThatSaysNoNumberHidesNoOther() throws Exception {
    try (Tasks tasks = Tasks.named("list", (_, _) -> {})) {
      var recorder = new Recorder();
      Rack rack = LocalPlace.rack(new RecordingHost(folder, "/bin"), Json.object());
      var agents = new HostAgents(recorder, rack, tasks);
      String workspace = folder.resolve("nodes/0123456789abcdef/0/project").toString();
      Json known = status(rack, node(List.of(), "", workspace).json());
      recorder.agents = List.of(status(rack, Json.object()), known);

      assertEquals(List.of(known), agents.listed(rack.hosts()).getFirst().statuses());
    }
  }

  private static Json status(Rack rack, Json.Obj info) {
    return Json.object("request", Json.object("kind", rack.kind(), "info", info));
  }

  private static NodeInfo node(List<String> slots, String model, String workspace) {
    return new NodeInfo(0, "here", "127.0.0.1", slots, model, 2, workspace);
  }

  @Test
  void aBlockOfTheConfigurationLimitsTheNodes() throws Exception {
    try (Tasks tasks = Tasks.named("limits", (_, _) -> {})) {
      var config =
          new BackendConfig(
              "here", "local", Json.object("nodes", 2, "locks", "/l"), "config.yaml:2");
      Rack rack = RackSettings.local(config, new RecordingHost(folder, "none"));
      var backend = new HostsBackend(rack, new Recorder(), new SecureRandom(), tasks);

      GangRequest three = request(3);
      Plan.Never never = assertInstanceOf(Plan.Never.class, backend.plan(three));
      Failure failure = assertThrows(GpushException.class, () -> backend.reserve(three)).failure();

      assertEquals(List.of("--nodes 2"), never.works());
      assertInstanceOf(BackendFailure.NeverFits.class, failure);
      assertInstanceOf(Plan.Now.class, backend.plan(request(2)));
      assertEquals("here", backend.name());
    }
  }

  private static GangRequest request(int nodes) {
    return GangRequest.of(
        new GangId("0123456789abcdef"),
        new Requester("me", "home@here", "devbox", "project"),
        nodes,
        GpuRequest.none(),
        BackendContract.LONG);
  }

  @Test
  void clientVariablesThatSayWhereProgramsAreGoAlong() throws Exception {
    try (Tasks tasks = Tasks.named("inherited", (_, _) -> {})) {
      HostsBackend backend = backend(new RecordingHost(folder, "none"), new Recorder(), tasks);

      assertEquals(
          Map.of("PATH", "/x", "VIRTUAL_ENV", "/v", "CONDA_PREFIX", "/c", "LC_ALL", "C"),
          backend
              .capabilities()
              .inherited(
                  Map.of(
                      "PATH", "/x",
                      "VIRTUAL_ENV", "/v",
                      "CONDA_PREFIX", "/c",
                      "LC_ALL", "C",
                      "AWS_SECRET_ACCESS_KEY", "s",
                      "HOME", "/h")));
    }
  }

  @Test
  void programsAreFoundOnTheGivenPath() throws Exception {
    LocalPlace.install(folder.resolve("tool"), "#!/bin/sh\necho found; pwd\n");
    var host = new SystemHost("here", 1, true, folder, Map.of());

    Ended ended =
        Ended.of(
            host.spawn(List.of("tool"), Map.of("PATH", "relative:" + folder + ":/usr/bin")),
            new byte[0]);

    assertEquals("found\n/\n", ended.output());
    assertThrows(IOException.class, () -> host.spawn(List.of("tool"), Map.of("PATH", "/bin")));
    assertThrows(IOException.class, () -> host.spawn(List.of("tool"), Map.of()));
  }

  /** Keeps what it is asked and answers that all is well, or fails as the test says. */
  private static final class Recorder implements AgentProgram {
    private final Queue<Json.Obj> asked = new ConcurrentLinkedQueue<>();
    private final Function<Json.Obj, Optional<AgentFailure>> failing;
    private List<Json> agents = List.of();
    private Optional<Json> released = Optional.empty();

    Recorder() {
      this(_ -> Optional.empty());
    }

    Recorder(Function<Json.Obj, Optional<AgentFailure>> failing) {
      this.failing = failing;
    }

    @Override
    public List<String> arguments(List<String> interpreters) {
      return List.of("true");
    }

    @Override
    public List<String> relayArguments(
        List<String> interpreters, GangId gang, int node, Duration patience) {
      throw new IllegalStateException("nobody attaches here");
    }

    @Override
    public boolean beginRelay(Pipe pipe) {
      throw new IllegalStateException("nobody attaches here");
    }

    @Override
    public void begin(Pipe pipe, Json.Obj header) {
      throw new IllegalStateException("nobody attaches here");
    }

    @Override
    public byte[] packet(Json.Obj header) {
      throw new IllegalStateException("nobody starts agents later here");
    }

    @Override
    public boolean beginRelay(Pipe pipe, Duration patience) {
      throw new IllegalStateException("nobody attaches here");
    }

    @Override
    public Json status(Pipe relay, Duration limit) {
      throw new IllegalStateException("nobody attaches here");
    }

    @Override
    public Map<String, byte[]> files(Json.Obj header) {
      throw new IllegalStateException("nobody starts agents later here");
    }

    @Override
    public List<String> commandIn(String folder, List<String> interpreters) {
      throw new IllegalStateException("nobody starts agents later here");
    }

    @Override
    public Json ask(Pipe pipe, Json.Obj header) {
      Optional<AgentFailure> failure = failing.apply(header);
      if (failure.isPresent()) {
        throw new GpushException(failure.get());
      }
      asked.add(header);
      if (mode(header).equals("control")) {
        if (released.isPresent()) {
          return released.get();
        }
        throw new GpushException(new AgentFailure.NotThere("", 0));
      }
      return Json.object("ok", true, "agents", agents);
    }
  }

  /** A machine on which every program is {@code true}; a Mac may ask its user about one. */
  private record RecordingHost(Path home, String path, boolean isLinux) implements LocalHost {
    RecordingHost(Path home, String path) {
      this(home, path, true);
    }

    @Override
    public String name() {
      return "here";
    }

    @Override
    public int cpus() {
      return 2;
    }

    @Override
    public Map<String, String> environment() {
      return Map.of("PATH", path, "USER", "me", "TERM", "xterm", "XDG_CACHE_HOME", "/cache");
    }

    @Override
    public Pipe spawn(List<String> arguments, Map<String, String> environment) throws IOException {
      assertTrue(isLinux, () -> "nothing may be started: " + arguments);
      return new SystemHost("here", 1, true, home, Map.of())
          .spawn(List.of("/bin/true"), environment);
    }
  }

  @Test
  void onlyLinuxHasLocalNodes() throws Exception {
    try (Tasks tasks = Tasks.named("mac", (_, _) -> {})) {
      var mac = new RecordingHost(folder, "none", false);
      HostsBackend backend = backend(mac, new Recorder(), tasks);

      Plan.Never never = assertInstanceOf(Plan.Never.class, backend.plan(request(1)));
      GpushException refused =
          assertThrows(GpushException.class, () -> backend.reserve(request(1)));
      GpushException unknown = assertThrows(GpushException.class, backend::describe);

      assertTrue(never.reason().contains("Linux"));
      for (GpushException failure : List.of(refused, unknown)) {
        String text = new FailureText(List.of("up")).of(failure.failure()).text();
        assertTrue(text.contains("its nodes need Linux; ssh, slurm and kubernetes work"), text);
        assertTrue(text.endsWith("try: gpush init\n"), text);
      }
      assertEquals(List.of(), backend.discover("me"));
    }
  }
}
