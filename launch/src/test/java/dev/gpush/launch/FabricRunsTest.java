package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.launch.run.RunHistory;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.testkit.fake.ManualClock;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When nodes are asked for their network, and what a run does with what they say. */
final class FabricRunsTest {
  private static final String OK =
      "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}";

  @TempDir private Path folder;
  private final List<FakeNode> nodes = List.of(new FakeNode(), new FakeNode());
  private final List<NodeInfo> machines = new ArrayList<>();
  private final FakeTalk talk = new FakeTalk();
  private final ManualClock clock = new ManualClock();
  private Tasks tasks;
  private Launcher launcher;

  @BeforeEach
  void open() throws IOException {
    tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
    Files.writeString(folder.resolve("train.py"), "print(1)\n");
    for (int i = 0; i < nodes.size(); i++) {
      machines.add(machine(i, "host" + i));
    }
    launcher = launcher(nodes.stream().<NodeCalls>map(node -> node).toList(), false);
  }

  private static NodeInfo machine(int index, String host) {
    String address = "10.0.0." + (index + 1);
    return new NodeInfo(index, host, address, List.of("0"), "H100", 8, "/n" + index + "/ws");
  }

  private Launcher launcher(List<NodeCalls> calls, boolean onThisMachine) {
    var reached = new ArrayList<LaunchNode>();
    for (int i = 0; i < calls.size(); i++) {
      int index = i;
      reached.add(new LaunchNode(() -> machines.get(index), calls.get(i)));
    }
    var site =
        new LaunchSite(
            new SessionName("devbox"),
            "0123456789",
            folder,
            onThisMachine,
            reached,
            folder.resolve("history"),
            Optional.empty());
    return new Launcher(site, new FabricPlanner(List::of), clock, tasks);
  }

  @AfterEach
  void close() {
    launcher.close();
    tasks.close();
  }

  /** One H100 node with an Ethernet interface and, as NCCL chooses by name, one too many. */
  private static Json facts(int index, String state) {
    String other = "10.0.0." + (2 - index);
    return Json.object(
        "interfaces",
        List.of(
            net("eth0", "10.0.0." + (index + 1)),
            net("eth1", "10.1.0." + (index + 1)),
            Json.object("name", "lo", "kind", "loopback", "state", "unknown")),
        "routes",
        List.of(Json.object("to", other, "interface", "eth0")),
        "default_route",
        "eth0",
        "rdma",
        List.of(port("mlx5_0", "ACTIVE"), port("mlx5_1", state)),
        "memlock",
        -1,
        "gpus",
        List.of(Json.object("index", 0, "name", "H100")),
        "plugins",
        List.of());
  }

  private static Json net(String name, String address) {
    return Json.object(
        "name",
        name,
        "state",
        "up",
        "kind",
        "ethernet",
        "gbits",
        100,
        "addresses",
        List.of(address + "/24"));
  }

  private static Json port(String device, String state) {
    return Json.object(
        "device",
        device,
        "port",
        1,
        "state",
        state,
        "link",
        "InfiniBand",
        "gbits",
        400,
        "vendor",
        "0x15b3",
        "verbs",
        "open");
  }

  private void tell(String stateOfNode1) {
    nodes.get(0).facts(facts(0, "ACTIVE"));
    nodes.get(1).facts(facts(1, stateOfNode1));
  }

  private RunView run(String... words) throws InterruptedException {
    return run(Asked.run(folder, words));
  }

  private RunView run(RunRequest request) throws InterruptedException {
    var input =
        new LaunchInput(
            42, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());
    RunView run = launcher.launch(request, input, new FakeTurn(), talk);
    for (String slot : run.slots()) {
      nodes.get(slot.charAt(0) - '0').end(run.number(), OK);
    }
    launcher.follow(run.number(), FakeOutput.UNTIL_ITS_END, new FakeOutput());
    return run;
  }

  private List<String> asked(int node) {
    return nodes.get(node).calls().stream().filter(call -> call.startsWith("facts")).toList();
  }

  private List<String> warnings() {
    return talk.said().stream().filter(line -> line.startsWith("node")).toList();
  }

  @Test
  void nodesAreAskedOnceAndAgainWhenTheirAnswersAreOld() throws Exception {
    tell("ACTIVE");
    launcher.attach(Set.of(0, 1));
    run("train.py");
    run("train.py");
    assertEquals(List.of("facts [\"10.0.0.2\"]".replace("\"", "")), asked(0));
    assertEquals(List.of("facts [10.0.0.1]"), asked(1));

    clock.advance(Duration.ofMinutes(6));
    run("train.py");
    assertEquals(2, asked(0).size());

    machines.set(1, machine(1, "other"));
    run("train.py");
    assertEquals(3, asked(1).size());
    assertEquals(List.of(), warnings());
  }

  @Test
  void whatIsWrongIsSaidOnceUntilItChanges() throws Exception {
    tell("DOWN");
    RunView first = run("train.py");
    run("train.py");
    assertEquals(1, warnings().size());
    String warning = warnings().getFirst();
    assertTrue(warning.startsWith("node 1: mlx5_1 is DOWN, 1 of 2 rails; every coll"), warning);
    assertTrue(first.header().endsWith(" · G42 · 1 to 2 rails of 400G InfiniBand"), first.header());

    tell("ACTIVE");
    clock.advance(Duration.ofMinutes(6));
    run("train.py");
    tell("DOWN");
    clock.advance(Duration.ofMinutes(6));
    run("train.py");
    assertEquals(List.of(warning, warning), warnings());
  }

  /** The nodes keep their numbers of the session in what is said. */
  @Test
  void aRunOnAPartOfTheSessionHasItsOwnPlan() throws Exception {
    tell("DOWN");

    RunView run = run(Asked.on("1", Asked.run(folder, "train.py")));

    assertEquals(List.of(), warnings());
    assertTrue(run.header().endsWith(" · G42"), run.header());
    assertEquals(1, plan(run).orElseThrow().nodes());
  }

  @Test
  void variablesOfTheCommandLineAreTheUsersOwn() throws Exception {
    tell("ACTIVE");

    RunView run = run(Asked.env(Map.of("NCCL_ALGO", "Ring"), Asked.run(folder, "train.py")));

    PlannedVariable planned =
        plan(run).orElseThrow().variables().stream()
            .filter(each -> each.name().equals("NCCL_ALGO"))
            .findFirst()
            .orElseThrow();
    assertEquals(Optional.of("Ring"), planned.value());
    assertEquals("--env", planned.source());
    assertEquals(Authority.USER, planned.authority());
    assertEquals(
        Optional.of("Ring"), nodes.get(1).specs().getFirst().object("env").text("NCCL_ALGO"));
  }

  private Optional<dev.gpush.core.fabric.FabricPlan> plan(RunView run) {
    return new RunHistory(folder.resolve("history"))
        .find(run.number())
        .flatMap(record -> record.launched().given().fabric());
  }

  @Test
  void nodesThatDoNotTellLeaveNcclAloneAndStopNothing() throws Exception {
    nodes.get(0).facts(facts(0, "ACTIVE"));

    RunView run = run("train.py");
    run("train.py");

    assertEquals(
        List.of(
            "node 1: the network could not be read (internal); nothing is set, and NCCL chooses"),
        warnings());
    assertEquals(Optional.empty(), nodes.get(0).specs().getFirst().object("defaults").text("X"));
    assertEquals(Map.of(), nodes.get(0).specs().getFirst().object("defaults").textMap());
    assertTrue(run.header().endsWith(" · G42"), run.header());
    assertEquals(1, asked(1).size());
    clock.advance(Duration.ofMinutes(2));
    tell("ACTIVE");
    RunView next = run("train.py");
    assertTrue(next.header().endsWith(" · 2 rails of 400G InfiniBand"), next.header());
    assertEquals(
        "eth0",
        nodes.get(1).specs().getLast().object("defaults").text("GLOO_SOCKET_IFNAME").orElse(""));
  }

  @Test
  void oneMachineIsOneNode() throws Exception {
    launcher.close();
    launcher = launcher(nodes.stream().<NodeCalls>map(node -> node).toList(), true);
    tell("DOWN");

    RunView run = run("train.py");

    assertEquals(List.of("facts []"), asked(0));
    assertEquals(List.of(), asked(1));
    assertEquals(1, plan(run).orElseThrow().nodes());
    assertTrue(run.header().endsWith(" · G42"), run.header());
  }

  @Test
  void commandsHaveNoPlanAndTheirNodesAreNotAsked() throws Exception {
    RunView run = run("true");

    assertEquals(List.of(), asked(0));
    assertEquals(Optional.empty(), plan(run));
    assertEquals(List.of(), warnings());
  }

  @Test
  void recordsAreReadAgainAndThoseOnNodesAreShort() throws Exception {
    tell("DOWN");
    RunView run = run("NCCL_DEBUG=WARN", "train.py");
    RunRecord record = new RunHistory(folder.resolve("history")).find(run.number()).orElseThrow();

    assertTrue(plan(run).isPresent());
    assertTrue(record.launched().given().marks().containsKey("NCCL_DEBUG"));
    assertTrue(!record.json().write().contains("\"WARN\"") || plan(run).isPresent());
    Json about = nodes.get(0).specs().getFirst().object("about");
    assertEquals(Optional.empty(), about.get("plan"));
    assertEquals(Optional.empty(), about.get("environment"));
    RunRecord old = RunRecord.from(about).orElseThrow();
    assertEquals(new RunRecord.Given(Map.of(), Optional.empty()), old.launched().given());
    launcher.differences(run.number(), run.number());
  }

  private LaunchInput input() {
    return new LaunchInput(
        42, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());
  }

  /** Starts, lets the nodes say these of their network, ends; what was said between the lines. */
  private List<String> observed(RunRequest request, String... said) throws InterruptedException {
    RunView run = launcher.launch(request, input(), new FakeTurn(), talk);
    for (int i = 0; i < said.length; i++) {
      nodes
          .get(i)
          .write(run.number(), Journals.event("{\"event\": \"transport\", " + said[i] + "}"));
    }
    nodes.forEach(node -> node.end(run.number(), OK));
    var output = new FakeOutput();
    launcher.follow(run.number(), FakeOutput.UNTIL_ITS_END, output);
    return output.events();
  }

  private Optional<String> transport(int run) {
    Optional<RunTransport> known = launcher.find(Optional.of(run)).transport();
    Optional<RunTransport> kept =
        new RunHistory(folder.resolve("history")).find(run).orElseThrow().view().transport();
    assertEquals(kept, known);
    return known.map(RunTransport::sentence);
  }

  private static final String RAILS =
      """
      "by": "nccl", "asked": true, "network": "IB", "nodes": 2, "gbits": 400, "direct": true,
      "used": ["mlx5_0", "mlx5_1"], "logs": "/n0/runs/1/nccl.a.*.log",
      "ports": [{"device": "mlx5_0", "port": 1, "link": "IB"},
                {"device": "mlx5_1", "port": 1, "link": "IB"}]
      """;

  private static final String SOCKET =
      """
      "by": "nccl", "asked": false, "network": "Socket", "nodes": 2, "used": ["eth0"],
      "reasons": [{"code": "libibverbs", "said": "Failed to open libibverbs.so[.1]"}]
      """;

  @Test
  void theNetworkThatNcclNamesIsSaidToThoseWhoAskAndRecorded() throws Exception {
    tell("ACTIVE");
    RunRequest asked = Asked.run(folder, "train.py").logging(RunRequest.NcclLog.FILES);

    List<String> events = observed(asked, RAILS, RAILS);

    String network = "2 rails of 400G InfiniBand, GPUDirect RDMA";
    assertEquals(
        List.of(network + "; NCCL's logs on the nodes: /n0/runs/1/nccl.a.*.log"), networks(events));
    assertEquals(Optional.of(network), transport(1));
    assertEquals("log", nodes.get(1).specs().getFirst().text("transport").orElse(""));
  }

  private static List<String> networks(List<String> events) {
    return events.stream()
        .filter(text -> text.contains("network: "))
        .map(text -> text.replaceFirst("^.*?network: ", ""))
        .toList();
  }

  @Test
  void aNetworkThatIsAsExpectedIsOnlyRecorded() throws Exception {
    tell("ACTIVE");
    String unasked = RAILS.replace("\"asked\": true", "\"asked\": false");

    assertEquals(List.of(), observed(Asked.run(folder, "train.py"), unasked, unasked));

    assertEquals(Optional.of("2 rails of 400G InfiniBand, GPUDirect RDMA"), transport(1));
    assertEquals("counters", nodes.get(0).specs().getFirst().text("transport").orElse(""));
  }

  @Test
  void tcpAlthoughThereIsInfiniBandIsSaidUnasked() throws Exception {
    tell("ACTIVE");

    List<String> events = observed(Asked.run(folder, "train.py"), SOCKET, SOCKET);

    String sentence =
        "TCP over eth0, although 2 rails of 400G InfiniBand are there: NCCL cannot load libibverbs;"
            + " try: install libibverbs1 or rdma-core in the image";
    assertEquals(List.of(sentence), networks(events));
    assertEquals(Optional.of(sentence), transport(1));
  }

  /** A node that is lost says nothing, and the others still do. */
  @Test
  void whatOneNodeSaysIsTheVerdictAtTheEnd() throws Exception {
    tell("ACTIVE");

    assertEquals(1, networks(observed(Asked.run(folder, "train.py"), SOCKET)).size());
    assertTrue(transport(1).orElse("").startsWith("TCP over eth0, although"), "" + transport(1));
  }

  @Test
  void aRunOfOneNodeIsNotObservedUnlessAsked() throws Exception {
    tell("ACTIVE");
    RunRequest one = Asked.on("1", Asked.run(folder, "train.py"));

    run(one);
    run(one.logging(RunRequest.NcclLog.FILES));

    List<Json> specs = nodes.get(1).specs();
    assertEquals(Optional.empty(), specs.get(0).text("transport"));
    assertEquals(Optional.of("log"), specs.get(1).text("transport"));
    assertEquals(Optional.empty(), transport(1));
  }

  @Test
  void aCheckAsksForThePythonOfGpushYamlInTheWorkspace() throws Exception {
    tell("ACTIVE");
    nodes.forEach(node -> node.python(""));
    Path below = Files.createDirectory(folder.resolve("src"));
    var input =
        new LaunchInput(
            42, Optional.of(".venv"), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());

    CheckReport report =
        launcher.check(
            Asked.run(below, "train.py").command(), input, List.of(), CheckLevel.FACTS, talk);

    assertEquals(
        List.of("nodes 0, 1: no Python for runs: none of /n0/ws/.venv is there"),
        report.findings().stream()
            .filter(each -> each.kind().equals("no-python"))
            .map(FabricFinding::what)
            .toList());
  }

  @Test
  void twoRunsAreCompared() throws Exception {
    tell("ACTIVE");
    run("SECRET=a", "train.py");
    run("SECRET=b", "A=1", "train.py");

    assertEquals(
        List.of(
            "COMMAND words: SECRET=a train.py -> SECRET=b A=1 train.py",
            "ENVIRONMENT A: (unset) -> set",
            "ENVIRONMENT SECRET: set -> set to another value"),
        launcher.differences(1, 2).stream()
            .map(
                each ->
                    each.kind() + " " + each.what() + ": " + each.first() + " -> " + each.second())
            .toList());
  }
}
