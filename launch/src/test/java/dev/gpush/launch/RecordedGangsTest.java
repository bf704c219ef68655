package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.launch.run.RunHistory;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs on real agents that tell of the network of a recorded gang. */
@Tag("local")
final class RecordedGangsTest {
  private static final String SHOW =
      """
      import os
      names = ["NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "GLOO_SOCKET_IFNAME", "NCCL_IB_TC", "NCCL_DEBUG"]
      print(" ".join("%s=%s" % (name, os.environ.get(name, "-")) for name in names))
      """;

  /** Surefire starts in launch. */
  private static final Path TESTS = Path.of("../agent/tests").toAbsolutePath();

  @TempDir private Path folder;
  private final FakeTalk talk = new FakeTalk();
  private final FakeOutput output = new FakeOutput();

  private AgentGang gang(String name, int nodes, String network)
      throws IOException, InterruptedException {
    String program =
        "import os, sys, trees\n"
            + "gang = trees.Gang(sys.argv[1])\n"
            + "for number, node in enumerate(gang.nodes):\n"
            + "    root = os.path.join(sys.argv[2], str(number))\n"
            + "    os.makedirs(root)\n"
            + "    node.write(root)\n";
    Process written =
        new ProcessBuilder("python3", "-B", "-c", program, name, folder.toString())
            .directory(TESTS.toFile())
            .inheritIO()
            .start();
    assertEquals(0, written.waitFor());
    return new AgentGang(nodes, List.of("0"), Optional.of(folder), network);
  }

  private static LaunchInput input(Map<String, String> environment) {
    return new LaunchInput(
        1,
        Optional.of("python3"),
        environment,
        Map.of("NCCL_DEBUG", "gpush.yaml:4"),
        _ -> Optional.empty(),
        RunEnding.usual());
  }

  private RunView run(
      AgentGang gang, Launcher launcher, Map<String, String> environment, String... words)
      throws InterruptedException {
    RunView run =
        launcher.launch(Asked.run(gang.project(), words), input(environment), new FakeTurn(), talk);
    assertEquals(Optional.of(0), launcher.follow(run.number(), FakeOutput.UNTIL_ITS_END, output));
    return run;
  }

  /** The fastest way to see it: what a rank finds in its environment. */
  @Test
  void ranksGetThePlanOfTheirNetworkAndTheUsersWordsWin() throws Exception {
    try (AgentGang gang = gang("infiniband", 2, "10.0.0.");
        Launcher launcher = gang.launcher()) {
      gang.put("show.py", SHOW);

      RunView run = run(gang, launcher, Map.of(), "show.py");

      String rails = "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1";
      String expected = "NCCL_SOCKET_IFNAME=- NCCL_IB_HCA=" + rails + " GLOO_SOCKET_IFNAME=bond0";
      assertEquals(
          Set.of(
              "0/0 " + expected + " NCCL_IB_TC=- NCCL_DEBUG=-",
              "1/1 " + expected + " NCCL_IB_TC=- NCCL_DEBUG=-"),
          new TreeSet<>(output.lines()));
      assertTrue(run.header().endsWith(" · G1 · 8 rails of 400G InfiniBand"), run.header());
      var record = new RunHistory(gang.history()).newest().orElseThrow();
      assertEquals(
          "8 rails of 400G InfiniBand", record.launched().given().fabric().orElseThrow().fabric());
      assertEquals(
          launcher.plan(Asked.run(gang.project(), "show.py").command(), input(Map.of()), List.of()),
          record.launched().given().fabric().orElseThrow());

      run(gang, launcher, Map.of("NCCL_DEBUG", "WARN"), "NCCL_IB_HCA=mlx5_3", "show.py");

      assertTrue(
          output
              .lines()
              .contains(
                  "0/0 NCCL_SOCKET_IFNAME=- NCCL_IB_HCA=mlx5_3 GLOO_SOCKET_IFNAME=bond0"
                      + " NCCL_IB_TC=- NCCL_DEBUG=WARN"),
          output.lines()::toString);
      assertEquals(
          List.of(
              "COMMAND words: show.py -> NCCL_IB_HCA=mlx5_3 show.py",
              "PLAN NCCL_DEBUG: (unset) -> WARN",
              "PLAN NCCL_IB_HCA: " + rails + " -> mlx5_3"),
          launcher.differences(1, 2).stream()
              .filter(each -> !each.what().equals("finding"))
              .map(
                  each ->
                      each.kind()
                          + " "
                          + each.what()
                          + ": "
                          + each.first()
                          + " -> "
                          + each.second())
              .toList());
    }
  }

  /** What a process that uses NCCL does: it writes what NCCL would, where NCCL would. */
  private static String writing(String devices, String network) {
    return """
    import os, socket
    name = os.environ["NCCL_DEBUG_FILE"].replace("%%h", socket.gethostname().split(".")[0])
    with open(name.replace("%%p", str(os.getpid())), "w") as file:
        for line in ("%s", "Using network %s", "comm 0x1 rank 0 nRanks 2 nNodes 2 localRanks 1",
                     "comm 0x1 rank 0 nranks 2 - Init COMPLETE",
                     "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/%s/0"):
            file.write("a:1:2 [0] NCCL INFO " + line + "\\n")
    print(os.environ["NCCL_DEBUG"])
    """
        .formatted(devices, network, network);
  }

  @Test
  void theNetworkThatNcclTookIsSaidWithTheReason() throws Exception {
    try (AgentGang gang = gang("infiniband", 2, "10.0.0.");
        Launcher launcher = gang.launcher()) {
      gang.put(
          "train.py",
          writing("NET/Socket : Using [0]bond0:10.0.0.1<0>", "Socket")
              .replace("in (\"NET", "in (\"Failed to open libibverbs.so[.1]\", \"NET"));
      RunRequest asked = Asked.run(gang.project(), "train.py").logging(RunRequest.NcclLog.FILES);

      RunView run = launcher.launch(asked, input(Map.of()), new FakeTurn(), talk);
      assertEquals(Optional.of(0), launcher.follow(run.number(), FakeOutput.UNTIL_ITS_END, output));

      assertEquals(Set.of("0/0 INFO", "1/1 INFO"), new TreeSet<>(output.lines()));
      assertEquals(1, output.events().size(), output.events()::toString);
      String said = output.events().getFirst().replaceFirst("^.: ", "");
      String sentence =
          "TCP over bond0, although 8 rails of 400G InfiniBand are there: NCCL cannot load"
              + " libibverbs; try: install libibverbs1 or rdma-core in the image";
      assertTrue(said.startsWith("network: " + sentence + "; NCCL's logs on the nodes: /"), said);
      assertEquals(
          Optional.of(sentence),
          launcher.find(Optional.of(run.number())).transport().map(RunTransport::sentence));
    }
  }

  @Test
  void aLevelOfTheUsersIsKeptAndItsLogRead() throws Exception {
    try (AgentGang gang = gang("infiniband", 2, "10.0.0.");
        Launcher launcher = gang.launcher()) {
      gang.put("train.py", writing("NET/IB : Using [0]mlx5_0:1/IB; OOB bond0:10.0.0.1<0>", "IB"));
      String mine = gang.history().getParent().resolve("mine.%h.%p").toString();

      RunView run =
          run(gang, launcher, Map.of("NCCL_DEBUG", "TRACE", "NCCL_DEBUG_FILE", mine), "train.py");

      assertEquals(Set.of("0/0 TRACE", "1/1 TRACE"), new TreeSet<>(output.lines()));
      assertEquals(List.of(), output.events());
      assertTrue(
          launcher
              .find(Optional.of(run.number()))
              .transport()
              .orElseThrow()
              .network()
              .startsWith("1 rail of "),
          "as it is expected it is only recorded");
    }
  }

  @Test
  void commandsGetNothing() throws Exception {
    try (AgentGang gang = gang("infiniband", 2, "10.0.0.");
        Launcher launcher = gang.launcher()) {
      RunView run = run(gang, launcher, Map.of(), "echo NCCL: $NCCL_IB_HCA.");

      assertEquals(Set.of("0/0 NCCL: .", "1/1 NCCL: ."), new TreeSet<>(output.lines()));
      assertTrue(run.header().endsWith(" · G1"), run.header());
    }
  }

  /** All that is wrong is named, and nothing starts. */
  @Test
  void nodesThatCannotWorkTogetherAreRefused() throws Exception {
    try (AgentGang gang = gang("mixed", 4, "10.6.0.");
        Launcher launcher = gang.launcher()) {
      gang.put("show.py", SHOW);

      assertEquals(
          List.of(
              "node 3: no RDMA device; there is 200G RoCE on node 2, 400G InfiniBand on nodes 0, 1",
              "the link layers differ: 200G RoCE on node 2, 400G InfiniBand on nodes 0, 1"),
          refusals(gang, launcher, "0-3"));
      assertEquals(
          List.of("node 3: no RDMA device; there is 200G RoCE on node 2"),
          refusals(gang, launcher, "2-3"));
      assertEquals(List.of(), launcher.list());
    }
  }

  private List<String> refusals(AgentGang gang, Launcher launcher, String on) {
    var asked = Asked.on(on, Asked.run(gang.project(), "show.py"));
    var refused =
        assertThrows(
            GpushException.class,
            () -> launcher.launch(asked, input(Map.of()), new FakeTurn(), talk));
    return ((LaunchFailure.NoFabric) refused.failure())
        .troubles().stream().map(LaunchFailure.Trouble::what).toList();
  }

  /** The script is read by the rank's own shell; what users and recipes set counts after it. */
  @Test
  void aProvidersScriptIsReadBeforeTheRank() throws Exception {
    try (AgentGang gang = gang("infiniband", 2, "10.0.0.")) {
      gang.put(
          "profile.sh",
          "export NCCL_IB_TC=52 NCCL_DEBUG=INFO NCCL_SOCKET_IFNAME=eth9 NCCL_IB_HCA=all\n");
      gang.put("show.py", SHOW);
      String script = gang.onNode(0, "profile.sh").toString();
      var recipe =
          new Recipe(
              "acme",
              "ACME's network",
              new Recipe.Evidence(
                  List.of(new Recipe.Proof(Recipe.Kind.PRODUCT, List.of("Supermicro")))),
              "",
              List.of(),
              false,
              Optional.of(new Recipe.Script(script, "its own settings")),
              List.of(new Recipe.Setting("NCCL_IB_HCA", "=mlx5_1", "a test")));
      try (Launcher launcher = gang.launcher(List.of(recipe))) {
        run(gang, launcher, Map.of("NCCL_DEBUG", "WARN"), "NCCL_X=1", "show.py");
      }

      String all =
          "NCCL_SOCKET_IFNAME=bond0 NCCL_IB_HCA==mlx5_1 GLOO_SOCKET_IFNAME=bond0 NCCL_IB_TC=52"
              + " NCCL_DEBUG=WARN";
      assertEquals(Set.of("0/0 " + all, "1/1 " + all), new TreeSet<>(output.lines()));
    }
  }

  @Test
  void variablesOfCheckCountOverThose() throws Exception {
    try (AgentGang gang = gang("infiniband", 2, "10.0.0.");
        Launcher launcher = gang.launcher()) {
      var plan =
          launcher.plan(
              Asked.run(gang.project(), "x.py").command(),
              input(Map.of()),
              List.of(new UserVariable("NCCL_NET", "Socket", "--env")));

      assertEquals("TCP over bond0 (200G), because of NCCL_NET=Socket (--env)", plan.fabric());
      assertTrue(Files.notExists(gang.history()), "nothing ran");
    }
  }
}
