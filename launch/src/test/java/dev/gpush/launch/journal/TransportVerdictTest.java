package dev.gpush.launch.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunTransport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The sentences over what agent/tests/test_network.py reads from recorded logs. */
final class TransportVerdictTest {
  private static final FabricFinding NO_VERBS =
      new FabricFinding(
          FabricFinding.Severity.WARNING,
          "no-verbs",
          NodeSet.of(List.of(0, 1)),
          "nodes 0-1: 8 RDMA devices, but /dev/infiniband is missing in this container",
          "",
          "ask for the devices (rdma/ib: 1 in the pod), or mount /dev/infiniband");

  private static TreeMap<Integer, NodeTransport> recorded(String name) throws IOException {
    var nodes = new TreeMap<Integer, NodeTransport>();
    String path = "/dev/gpush/launch/transport/" + name + ".json";
    try (InputStream in = TransportVerdictTest.class.getResourceAsStream(path)) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      for (Json facts : Json.parse(text).items()) {
        nodes.put(nodes.size(), new NodeTransport(facts));
      }
    }
    return nodes;
  }

  private static Optional<FabricPlan> plan(
      String fabric, String better, FabricFinding... findings) {
    return Optional.of(
        new FabricPlan(
            2,
            "2 nodes",
            new ExpectedNetwork(fabric, better, Optional.empty()),
            List.of(),
            List.of(),
            List.of(findings)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          infiniband    | 2 rails of InfiniBand, GPUDirect RDMA
          roce          | 4 rails of RoCE, without GPUDirect RDMA
          efa           | 32 rails of EFA, GPUDirect RDMA
          gib           | 2 rails of RoCE (gIB), GPUDirect RDMA
          fastrak       | 8 rails of GPUDirect-TCPXO
          rccl          | 2 rails of RoCE, GPUDirect RDMA
          socket        | TCP over eth0
          single        | one machine: from GPU to GPU
          slingshot-tcp | TCP through libfabric (tcp;ofi_rxm), without GPUDirect RDMA
          """)
  void networksAreNamed(String name, String sentence) throws IOException {
    assertEquals(
        sentence, TransportVerdict.of(Optional.empty(), recorded(name)).sentence(), "without plan");
    assertEquals(
        sentence,
        TransportVerdict.of(
                Optional.of(
                    new FabricPlan(
                        2, "2 nodes", ExpectedNetwork.UNKNOWN, List.of(), List.of(), List.of())),
                recorded(name))
            .network());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          8 rails of 400G InfiniBand | 8 rails of 400G InfiniBand are there | , although 8 rails of 400G InfiniBand are there: NCCL cannot load libibverbs; try: install libibverbs1 or rdma-core in the image
          TCP over eth0 | 400G InfiniBand is there | , although 400G InfiniBand is there: NCCL cannot load libibverbs; try: install libibverbs1 or rdma-core in the image
          TCP over eth0 (100G) | '' | ''
          gloo over eth0 | '' | ''
          """)
  void tcpIsWorseOnlyThanWhatIsThere(String fabric, String better, String rest) throws IOException {
    assertEquals(
        "TCP over eth0" + rest,
        TransportVerdict.of(plan(fabric, better), recorded("socket")).sentence());
  }

  @Test
  void oneNodeIsNeverWorse() throws IOException {
    var plan = plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there", NO_VERBS);
    assertFalse(TransportVerdict.of(plan, recorded("single")).isWorse());
  }

  private static String sentence(Optional<FabricPlan> plan, String... facts) {
    var nodes = new TreeMap<Integer, NodeTransport>();
    for (String each : facts) {
      nodes.put(nodes.size(), new NodeTransport(Json.parse(each)));
    }
    return TransportVerdict.of(plan, nodes).sentence();
  }

  @Test
  void theReasonIsWhatNcclSaidOrElseThePlansFinding() {
    String silent = "{\"network\": \"Socket\", \"nodes\": 2, \"interfaces\": [\"eth0\"]}";
    String tcp = "TCP over eth0, although 8 rails of 400G InfiniBand are there";
    Optional<FabricPlan> plain =
        plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there");

    assertEquals(tcp, sentence(plain, silent));
    assertEquals(
        tcp
            + ": nodes 0-1: 8 RDMA devices, but /dev/infiniband is missing in this container; try:"
            + " ask for the devices (rdma/ib: 1 in the pod), or mount /dev/infiniband",
        sentence(
            plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there", NO_VERBS),
            silent));
    assertEquals(
        tcp + ": NCCL finds no RDMA device; try: gpush check --plan",
        sentence(plain, because(silent, "no-device")));
    assertEquals(
        tcp + ": NCCL_IB_DISABLE is set; try: take NCCL_IB_DISABLE out of the environment",
        sentence(plain, because(silent, "disabled")));
    // A missing plugin explains nothing where none is needed.
    assertEquals(tcp, sentence(plain, because(silent, "plugin")));
    assertEquals(
        "TCP over eth0, although 32 rails of 100G EFA are there: NCCL finds no libnccl-net.so;"
            + " try: put the plugin's folder into LD_LIBRARY_PATH",
        sentence(
            plan("32 rails of 100G EFA", "32 rails of 100G EFA are there"),
            because(silent, "plugin")));
  }

  private static String because(String facts, String code) {
    return facts.replaceFirst(
        "}$", ", \"reasons\": [{\"code\": \"" + code + "\", \"said\": \"words\"}]}");
  }

  @Test
  void countersAreTrustedOnlyOfProgramsWithGpus() {
    Optional<FabricPlan> plan =
        plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there");
    String tcp =
        """
        {"by": "counters", "network": "Socket", "nodes": 2, "used": ["bond0"], "gpu": %s}
        """;

    assertEquals("TCP over bond0", sentence(plan, tcp.formatted("false")));
    assertEquals(
        "TCP over bond0, although 8 rails of 400G InfiniBand are there; try: gpush run"
            + " --nccl-debug, which says why",
        sentence(plan, tcp.formatted("true")));
    assertEquals(
        "2 rails of 400G InfiniBand",
        sentence(
            plan,
            """
            {"by": "counters", "network": "IB", "nodes": 2, "gbits": 400, "gpu": true,
             "used": ["mlx5_0", "mlx5_1"],
             "ports": [{"device": "mlx5_0", "port": 1, "link": "IB"}]}
            """));
  }

  @Test
  void nodesThatDifferAreNamed() {
    assertEquals(
        "TCP over eth0 on nodes 0,2; TCP over eth1 on node 1",
        sentence(
                Optional.empty(),
                "{\"network\": \"Socket\", \"nodes\": 2, \"used\": [\"eth0\"]}",
                "{\"network\": \"Socket\", \"nodes\": 2, \"used\": [\"eth1\"]}",
                "{\"network\": \"Socket\", \"nodes\": 2, \"used\": [\"eth0\"]}")
            .replace("0, 2", "0,2"));
  }

  @Test
  void aProgramThatDidNotUseNcclIsNoNetwork() {
    assertEquals(
        "not known: NCCL wrote no log, so the program did not use it, or closed before it did",
        sentence(
            plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there"),
            "{\"asked\": true, \"level\": \"INFO\"}"));
    assertEquals(
        "not known: NCCL_DEBUG=WARN is yours and was kept; with it NCCL does not say it",
        sentence(Optional.empty(), "{\"asked\": true, \"level\": \"WARN\"}"));
  }

  /** Agents of other versions may say anything. */
  @Test
  void nonsenseIsSomeSentence() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    String[] keys = {"network", "ports", "used", "nodes", "gbits", "direct", "provider", "inside"};
    String[] values = {"null", "[]", "{}", "\"IB\"", "[1, {\"link\": 3}]", "-1", "1e300", "true"};
    for (int i = 0; i < 500; i++) {
      var facts = new StringBuilder("{\"x\": 1");
      for (String key : keys) {
        String value = values[random.nextInt(values.length)];
        facts.append(", \"").append(key).append("\": ").append(value);
      }
      String sentence =
          sentence(
              plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there"),
              facts + "}");
      assertFalse(sentence.isEmpty(), "seed " + seed + ": " + facts);
    }
  }

  @Test
  void verdictsAreReadAgain() throws IOException {
    RunTransport verdict =
        TransportVerdict.of(
            plan("8 rails of 400G InfiniBand", "8 rails of 400G InfiniBand are there"),
            recorded("socket"));
    assertEquals(verdict, RunTransport.read(Json.parse(verdict.json().write())));
    assertEquals("", RunTransport.read(Json.object()).sentence());
  }
}
