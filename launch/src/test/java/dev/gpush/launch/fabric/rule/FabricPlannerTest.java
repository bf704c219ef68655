package dev.gpush.launch.fabric.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Evidence;
import dev.gpush.core.fabric.Recipe.Kind;
import dev.gpush.core.fabric.Recipe.Proof;
import dev.gpush.core.fabric.Recipe.Script;
import dev.gpush.core.fabric.Recipe.Setting;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FabricPlannerTest {
  private final List<UserVariable> user = new ArrayList<>();
  private final List<Recipe> recipes = new ArrayList<>();

  private FabricPlan plan(Json gang) {
    return new FabricPlanner(() -> recipes).plan(gang, user);
  }

  private static Optional<PlannedVariable> row(FabricPlan plan, String name, int node) {
    return plan.variables().stream()
        .filter(each -> each.name().equals(name) && each.nodes().contains(node))
        .findFirst();
  }

  private static String value(FabricPlan plan, String name, int node) {
    return row(plan, name, node).flatMap(PlannedVariable::value).orElse("(unset)");
  }

  private static List<String> kinds(FabricPlan plan) {
    return plan.findings().stream()
        .map(each -> each.severity().word() + " " + each.kind())
        .toList();
  }

  private static FabricFinding finding(FabricPlan plan, String kind) {
    return plan.findings().stream()
        .filter(each -> each.kind().equals(kind))
        .findFirst()
        .orElseThrow(() -> new AssertionError(plan.findings().toString()));
  }

  @Test
  void leavesNcclAloneWhereItsOwnChoiceIsRight() {
    FabricPlan plan = plan(Gangs.twoWithRails());

    assertEquals("8 rails of 400G InfiniBand", plan.fabric());
    assertEquals("(unset)", value(plan, "NCCL_SOCKET_IFNAME", 0));
    assertEquals("(unset)", value(plan, "NCCL_IB_HCA", 1));
    assertEquals(Map.of("GLOO_SOCKET_IFNAME", "eth0"), plan.exported(0));
    assertEquals(List.of(), plan.findings());
  }

  @ParameterizedTest
  @CsvSource({
    // another interface beside the one that the routes take; NCCL's choice
    "tun0, tunnel, =eth0",
    "ib0, ipoib, =eth0",
    "br-5f, bridge, =eth0",
    "docker0, bridge, (unset)",
    "virbr0, bridge, (unset)"
  })
  void namesTheInterfaceWhereNcclWouldChooseAmongSeveral(String name, String kind, String value) {
    Json gang = Gangs.two();
    var interfaces = new ArrayList<>(gang.items().getFirst().items("interfaces"));
    interfaces.add(Gangs.net(name, kind, 10, "172.17.0.1"));

    FabricPlan plan = plan(Gangs.with(gang, 0, "interfaces", interfaces));

    assertEquals(value, value(plan, "NCCL_SOCKET_IFNAME", 0));
    assertEquals("(unset)", value(plan, "NCCL_SOCKET_IFNAME", 1));
  }

  @Test
  void interfacesMayHaveOtherNamesOnOtherNodes() {
    Json gang = Gangs.two();
    gang =
        Gangs.with(gang, 1, "interfaces", List.of(Gangs.net("ens3", "ethernet", 100, "10.0.0.2")));
    gang =
        Gangs.with(gang, 1, "routes", List.of(Json.object("to", "10.0.0.1", "interface", "ens3")));

    FabricPlan plan = plan(gang);

    assertEquals("eth0", value(plan, "GLOO_SOCKET_IFNAME", 0));
    assertEquals("ens3", value(plan, "GLOO_SOCKET_IFNAME", 1));
    assertEquals("TCP over eth0 (100G) or ens3 (100G)", plan.fabric());
  }

  @Test
  void aNodeWithoutARouteIsRefusedByName() {
    FabricPlan plan = plan(Gangs.with(Gangs.two(), 1, "routes", List.of()));

    assertEquals("node 1 has no route to node 0", plan.refusals().getFirst().what());
  }

  @Test
  void oneMachineWithoutGpusHasNoTransport() {
    FabricPlan plan = plan(Gangs.with(Gangs.one(), 0, "gpus", List.of()));

    assertEquals("", plan.fabric());
    assertTrue(plan.gang().startsWith("1 machine, no GPUs"), plan.gang());
  }

  @Test
  void oneNodeNeedsNothing() {
    Json gang =
        Gangs.with(Gangs.one(), 0, "topology", Json.object("GPU0", Json.object("GPU1", "NV18")));

    FabricPlan plan = plan(gang);

    assertEquals("one machine: NVLink", plan.fabric());
    assertEquals(Map.of(), plan.exported(0));
    assertEquals(List.of(), plan.findings());
  }

  @Test
  void storageAdaptersAreNoRails() {
    Json rails = Gangs.rails(0, 2, 8, "InfiniBand", 400);
    var ports = new ArrayList<>(rails.items("rdma"));
    ports.add(Gangs.port("mlx5_bond_0", "ACTIVE", "Ethernet", 200));

    FabricPlan plan = plan(Gangs.with(Gangs.twoWithRails(), 0, "rdma", ports));

    assertEquals(
        "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1",
        value(plan, "NCCL_IB_HCA", 0));
    assertEquals("(unset)", value(plan, "NCCL_IB_HCA", 1));
    assertEquals("8 rails of 400G InfiniBand", plan.fabric());
  }

  @Test
  void theAdapterOfTheDefaultRouteIsNoRailUnlessItIsTheOnlyOne() {
    Json.Obj management =
        Gangs.port("mlx5_9", "ACTIVE", "Ethernet", 400).with("interfaces", List.of("eth0"));
    Json rail = Gangs.port("mlx5_0", "ACTIVE", "Ethernet", 400);

    Json both = Gangs.with(Gangs.two(), 0, "rdma", List.of(management, rail));
    Json alone = Gangs.with(Gangs.two(), 0, "rdma", List.of(management));

    assertEquals("=mlx5_0:1", value(plan(both), "NCCL_IB_HCA", 0));
    assertEquals("(unset)", value(plan(alone), "NCCL_IB_HCA", 0));
  }

  @Test
  void aPortThatIsDownIsNamedWithItsNodeAndCost() {
    Json rails = Gangs.rails(1, 2, 8, "InfiniBand", 400);
    var ports = new ArrayList<>(rails.items("rdma"));
    ports.set(3, Gangs.port("mlx5_3", "DOWN", "InfiniBand", 10));

    FabricPlan plan = plan(Gangs.with(Gangs.twoWithRails(), 1, "rdma", ports));

    assertEquals(List.of("warning port-down"), kinds(plan));
    assertEquals("node 1: mlx5_3 is DOWN, 7 of 8 rails", finding(plan, "port-down").what());
    assertEquals("7 to 8 rails of 400G InfiniBand", plan.fabric());
    assertEquals("7 to 8 rails of 400G InfiniBand are there", plan.expected().better());
  }

  @Test
  void aRailThatBecameSlowStaysARailAndIsNamed() {
    var ports = new ArrayList<>(Gangs.rails(1, 2, 8, "InfiniBand", 400).items("rdma"));
    ports.set(6, Gangs.port("mlx5_6", "ACTIVE", "InfiniBand", 200));

    FabricPlan plan = plan(Gangs.with(Gangs.twoWithRails(), 1, "rdma", ports));

    assertEquals(List.of("warning slow-rail"), kinds(plan));
    assertEquals("(unset)", value(plan, "NCCL_IB_HCA", 1));
  }

  @Test
  void rdmaOnSomeNodesOnlyIsRefusedUntilTcpIsChosen() {
    Json gang = Gangs.with(Gangs.twoWithRails(), 1, "rdma", List.of());

    assertEquals(List.of("refused mixed-rdma"), kinds(plan(gang)));
    assertTrue(plan(gang).refusals().getFirst().what().startsWith("node 1: no RDMA device"));

    user.add(new UserVariable("NCCL_NET", "Socket", "--env"));

    assertEquals(List.of(), plan(gang).refusals());
    assertEquals("TCP over eth0 (100G), because of NCCL_NET=Socket (--env)", plan(gang).fabric());
    assertEquals("", plan(gang).expected().better());
  }

  @ParameterizedTest
  @CsvSource({
    "missing, but /dev/infiniband is missing in this container",
    "denied, but they may not be opened"
  })
  void devicesThatCannotBeOpenedAreNamed(String verbs, String what) {
    var gang = Gangs.two();
    for (int node = 0; node < 2; node++) {
      var port = Gangs.port("mlx5_0", "ACTIVE", "InfiniBand", 400).with("verbs", verbs);
      gang = Gangs.with(gang, node, "rdma", List.of(port));
    }

    FabricPlan plan = plan(gang);

    assertEquals("TCP over eth0 (100G), although 400G InfiniBand is there", plan.fabric());
    assertEquals("400G InfiniBand is there", plan.expected().better());
    assertEquals("nodes 0, 1: 1 RDMA devices, " + what, finding(plan, "no-verbs").what());
  }

  @Test
  void whatUserAndSiteSetIsKeptInThatOrder() {
    Json conf =
        Json.object(
            "path", "/etc/nccl.conf", "variables", Json.object("NCCL_SOCKET_IFNAME", "eth"));
    Json gang = Gangs.two();
    for (int node = 0; node < 2; node++) {
      gang = Gangs.with(gang, node, "conf", List.of(conf));
    }

    PlannedVariable site = row(plan(gang), "NCCL_SOCKET_IFNAME", 0).orElseThrow();
    assertEquals(Optional.of("eth"), site.value());
    assertEquals(Authority.SITE, site.authority());
    assertEquals("/etc/nccl.conf", site.source());
    assertTrue(!site.isExported());

    user.add(new UserVariable("NCCL_SOCKET_IFNAME", "eth0", "gpush.yaml:4"));

    PlannedVariable own = row(plan(gang), "NCCL_SOCKET_IFNAME", 0).orElseThrow();
    assertEquals(Authority.USER, own.authority());
    assertEquals("gpush.yaml:4", own.source());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/usr/lib/libnccl-tuner.so",
        "/usr/lib/libnccl-net-ofi.so",
        "/opt/hpcx/nccl_rdma_sharp_plugin/lib/libnccl-net.so"
      })
  void pluginsThatNcclDoesNotOpenOrThatFitAreNotStray(String file) {
    Json gang = Gangs.withEach(Gangs.twoWithRails(), "plugins", List.of(file));

    assertEquals(List.of(), plan(gang).findings());
  }

  @Test
  void gidIndexThatNcclChoosesDoesNoHarm() {
    Json gang = Gangs.two();
    for (int node = 0; node < 2; node++) {
      gang = Gangs.with(gang, node, "rdma", List.of(Gangs.roce("mlx5_0", 3)));
    }
    user.add(new UserVariable("NCCL_IB_GID_INDEX", "7", "--env"));
    assertTrue(finding(plan(gang), "leftover").cost().contains("index 7 of mlx5_0"));

    user.set(0, new UserVariable("NCCL_IB_GID_INDEX", "-1", "--env"));
    assertFalse(plan(gang).findings().toString().contains("GID_INDEX"));
  }

  /** An index counts the addresses of one port, and ranks tell each other the address itself. */
  @Test
  void gidIndexMayDifferBetweenNodes() {
    Json conf =
        Json.object("path", "/etc/nccl.conf", "variables", Json.object("NCCL_IB_GID_INDEX", "5"));

    assertEquals(List.of(), plan(Gangs.with(Gangs.two(), 1, "conf", List.of(conf))).refusals());
  }

  @Test
  void whatMustAgreeIsRefusedWhenItDiffers() {
    Json conf =
        Json.object("path", "/etc/nccl.conf", "variables", Json.object("NCCL_PROTO", "Simple"));

    FabricPlan plan = plan(Gangs.with(Gangs.two(), 1, "conf", List.of(conf)));

    assertEquals(
        "NCCL_PROTO differs between the nodes: (unset) on node 0, Simple on node 1",
        plan.refusals().getFirst().what());

    user.add(new UserVariable("NCCL_PROTO", "Simple", "--env"));
    assertEquals(List.of(), plan(Gangs.with(Gangs.two(), 1, "conf", List.of(conf))).refusals());
  }

  @ParameterizedTest
  @CsvSource({
    "NCCL_IB_DISABLE, 1, stays unused",
    "NCCL_NET, Socket, stays unused",
    "NCCL_NET, gIB, no network plugin",
    "NCCL_SOCKET_IFNAME, ens3, no interface that is up",
    "NCCL_SOCKET_IFNAME, ^eth, not by lo",
    "GLOO_SOCKET_IFNAME, eth, no interface 'eth'",
    "NCCL_IB_HCA, mlx4, no active device",
    "NCCL_IB_HCA, =mlx5_0:1, only 1 of 8 rails",
    "NCCL_P2P_DISABLE, 1, host memory",
    "NCCL_SHM_DISABLE, 1, through the network card",
    "NCCL_ALGO, Ring, tuner",
    "NCCL_PROTO, LL, tuner",
    "NCCL_MAX_NCHANNELS, 4, tuner",
    "NCCL_BUFFSIZE, 1, tuner",
    "NCCL_NET_GDR_LEVEL, SYS, CPU sockets",
    "NCCL_TOPO_FILE, /x.xml, wrong rings",
    "NCCL_CROSS_NIC, 1, between rails",
    "FI_PROVIDER, efa, no EFA",
    "RDMAV_FORK_SAFE, 1, fork-safe",
    "NCCL_DEBUG, INFO, hundreds of lines",
    "CUDA_LAUNCH_BLOCKING, 1, every kernel",
    "TORCH_NCCL_BLOCKING_WAIT, 1, blocks its thread",
    "CUDA_VISIBLE_DEVICES, '3,1', renumbered",
    "NCCL_MNNVL_ENABLE, 1, IMEX"
  })
  void harmfulLeftoversAreNamedAndKept(String name, String value, String cost) {
    user.add(new UserVariable(name, value, "gpush.yaml:4"));

    FabricPlan plan = plan(Gangs.twoWithRails());

    FabricFinding finding = finding(plan, "leftover");
    assertEquals(name + "=" + value + " (gpush.yaml:4)", finding.what());
    assertTrue(finding.cost().contains(cost), finding.cost());
    assertEquals(value, value(plan, name, 0));
  }

  @ParameterizedTest
  @CsvSource({
    "NCCL_IB_DISABLE, 0",
    "NCCL_SOCKET_IFNAME, =eth0",
    "NCCL_SOCKET_IFNAME, '^docker,lo'",
    "GLOO_SOCKET_IFNAME, eth0",
    "NCCL_IB_HCA, mlx5",
    "NCCL_P2P_DISABLE, 0",
    "NCCL_CROSS_NIC, 0",
    "NCCL_DEBUG, WARN",
    "NCCL_IB_TC, 106",
    "CUDA_VISIBLE_DEVICES, '0,1'",
    "CUDA_VISIBLE_DEVICES, 'GPU-4a3c'"
  })
  void harmlessVariablesAreNot(String name, String value) {
    user.add(new UserVariable(name, value, "gpush.yaml:4"));

    assertEquals(List.of(), plan(Gangs.twoWithRails()).findings());
  }

  @ParameterizedTest
  @CsvSource({
    "memlock, 65536, memlock",
    "plugins, '[\"/usr/lib/libnccl-net.so\"]', stray-plugin",
    "gpus, '[{\"name\":\"NVIDIA A100\"}]', different-gpus",
    "python, '{\"nccl\":\"2.26.2\"}', different-nccl",
    "gpus, '[]', no-gpus"
  })
  void differencesBetweenNodesAreNamed(String key, String json, String kind) {
    Json gang = Gangs.twoWithRails();
    gang = Gangs.with(gang, 0, "python", Json.object("nccl", "2.27.3"));

    FabricPlan plan = plan(Gangs.with(gang, 1, key, Json.parse(json)));

    assertEquals(1, finding(plan, kind).nodes().numbers().getLast());
  }

  @Test
  void littleLockedMemoryIsNamedWhereAPluginUsesTheDevices() {
    recipes.add(recipe(true, "NCCL_NET", "ACME"));
    Json gang = Gangs.withEach(Gangs.two(), "provider", Json.object("product", "ACME Cloud"));
    gang = Gangs.withEach(gang, "plugins", List.of("/opt/acme/libnccl-net.so"));
    gang = Gangs.with(gang, 1, "memlock", 65536);
    Json port = Gangs.port("rdmap0s6", "ACTIVE", "", 100).with("vendor", "0x1d0f");

    assertEquals(List.of(), plan(gang).findings());
    assertEquals(
        "node 1: only 64 KiB of memory may be locked",
        finding(plan(Gangs.withEach(gang, "rdma", List.of(port))), "memlock").what());
  }

  @Test
  void anotherMtuIsNamed() {
    var other = Gangs.net("eth0", "ethernet", 100, "10.0.0.2").with("mtu", 1500);

    FabricPlan plan = plan(Gangs.with(Gangs.two(), 1, "interfaces", List.of(other)));

    assertEquals("the MTU differs: 1500 on node 1, 9000 on node 0", finding(plan, "mtu").what());
  }

  @Test
  void aSessionWithoutGpusOnAMachineWithGpusIsToldSo() {
    Json gang = Gangs.with(Gangs.one(), 0, "python", Json.object("nccl", "2.28.9"));
    Json hidden =
        Json.object("session", Json.object("CUDA_VISIBLE_DEVICES", ""), "image", Json.object());

    assertEquals(
        "node 0: the GPUs of the machine are hidden, because this session has none; ranks compute"
            + " on processors; try: gpush up --replace --gpus 1",
        finding(plan(Gangs.with(gang, 0, "environment", hidden)), "hidden-gpus").sentence());
    assertTrue(plan(gang).findings().stream().noneMatch(each -> each.kind().equals("hidden-gpus")));
    Json two = Gangs.withEach(Gangs.two(), "python", Json.object("nccl", "2.28.9"));
    assertEquals(
        "node 1: the GPUs of the machine are hidden, because this node has none",
        finding(plan(Gangs.with(two, 1, "environment", hidden)), "hidden-gpus").what());
  }

  @Test
  void gpusOfTwoVendorsAreRefused() {
    Json gang = Gangs.with(Gangs.two(), 1, "gpu_vendor", "amd");

    assertEquals(List.of("refused mixed-gpus"), kinds(plan(gang)));
  }

  @Test
  void aRecipeAppliesWithItsEvidenceOnAllNodes() {
    recipes.add(recipe(false, "NCCL_IB_TC", "106"));
    Json gang = Gangs.twoWithRails();
    Json provider = Json.object("product", Json.object("sys_vendor", "ACME Cloud"));
    Json one = Gangs.with(gang, 0, "provider", provider);
    Json both = Gangs.with(one, 1, "provider", provider);

    assertEquals(List.of(), row(plan(gang), "NCCL_IB_TC", 0).stream().toList());
    assertEquals(List.of("warning mixed-provider"), kinds(plan(one)));
    PlannedVariable row = row(plan(both), "NCCL_IB_TC", 1).orElseThrow();
    assertEquals(Optional.of("106"), row.value());
    assertEquals("recipe acme", row.source());

    user.add(new UserVariable("NCCL_IB_TC", "41", "--env"));
    assertEquals("41", value(plan(both), "NCCL_IB_TC", 0));
  }

  @Test
  void aTransportOfSomeNodesIsRefusedAndAMissingPluginNamed() {
    recipes.add(recipe(true, "NCCL_NET", "ACME"));
    Json provider = Json.object("product", "ACME Cloud");
    Json one = Gangs.with(Gangs.two(), 0, "provider", provider);
    Json both = Gangs.with(one, 1, "provider", provider);

    assertEquals(List.of("refused mixed-provider"), kinds(plan(one)));
    assertEquals(List.of("warning plugin-missing"), kinds(plan(both)));
    assertEquals("TCP over eth0 (100G), although AcmeNet is there", plan(both).fabric());
    Json tuner = Gangs.withEach(both, "plugins", List.of("/opt/acme/libnccl-tuner.so"));
    assertEquals(List.of("warning plugin-missing"), kinds(plan(tuner)));
    Json partly = Gangs.with(both, 0, "plugins", List.of("/opt/acme/libnccl-net.so"));
    assertEquals(List.of("refused plugin-missing"), kinds(plan(partly)));
    Json whole = Gangs.with(partly, 1, "plugins", List.of("/opt/acme/libnccl-net.so"));
    assertEquals("AcmeNet", plan(whole).fabric());
    assertEquals("/opt/acme/env.sh", plan(whole).scripts().getFirst().path());
  }

  @Test
  void aRecipesInterfaceThatIsNotThereIsNotSet() {
    recipes.add(recipe(false, "NCCL_SOCKET_IFNAME", "ens7"));
    Json provider = Json.object("product", "ACME Cloud");
    Json gang = Gangs.with(Gangs.two(), 0, "provider", provider);

    FabricPlan plan = plan(Gangs.with(gang, 1, "provider", provider));

    assertEquals(List.of("warning recipe-interface"), kinds(plan));
    assertEquals("(unset)", value(plan, "NCCL_SOCKET_IFNAME", 0));
  }

  private static Recipe recipe(boolean isTransport, String name, String value) {
    return new Recipe(
        "acme",
        "ACME Cloud",
        new Evidence(List.of(new Proof(Kind.PRODUCT, List.of("ACME*")))),
        isTransport ? "AcmeNet" : "",
        List.of(),
        isTransport,
        isTransport ? Optional.of(new Script("/opt/acme/env.sh", "theirs")) : Optional.empty(),
        List.of(new Setting(name, value, "because")));
  }

  @Test
  void missingFactsLeaveNcclAloneAndAreSaidOnce() {
    Json gang = Json.array(List.of(Json.object(), Json.object()));

    FabricPlan plan = plan(gang);

    assertEquals(List.of("note facts"), kinds(plan));
    assertEquals(Map.of(), plan.exported(0));
    assertEquals("not known; NCCL chooses", plan.fabric());
    assertEquals(List.of("note facts"), kinds(plan(Json.array(List.of()))));
  }
}
