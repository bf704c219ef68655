package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.json.Json;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.node.PythonFacts;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class FactsRuleTest {
  private static final NodePython SAME = python("3.11.2", "\"numpy-2.3\", \"torch-2.8.0\"");

  private static NodePython python(String version, String packages) {
    String line =
        "gpush-python {\"executable\": \"/v/bin/python\", \"version\": \""
            + version
            + "\", \"packages\": ["
            + packages
            + "]}";
    return new NodePython.Known(PythonFacts.parse(line).orElseThrow());
  }

  private static FabricGang gang(Json... nodes) {
    return FabricGang.read(Json.array(List.of(nodes)), List.of());
  }

  private static List<String> findings(
      FabricGang gang, List<NodePython> pythons, Map<String, List<Integer>> silent) {
    return FactsRule.findings(gang, pythons, silent).stream()
        .map(each -> each.severity().word() + " " + each.kind() + " " + each.what())
        .toList();
  }

  @Test
  void nodesThatAreAlikeHaveNoFindings() {
    FabricGang gang = gang(Json.object("memlock", 65536), Json.object("memlock", 65536));

    assertEquals(List.of(), findings(gang, List.of(SAME, SAME), Map.of()));
  }

  @Test
  void otherPackagesAreNamedOnceForAllNodesThatHaveThem() {
    NodePython other = python("3.11.2", "\"numpy-2.2\", \"torch-2.8.0\"");

    assertEquals(
        List.of(
            "refused different-python nodes 1, 2: the Python lacks numpy-2.3; has numpy-2.2,"
                + " unlike node 0"),
        findings(gang(), List.of(SAME, other, other, SAME), Map.of()));
  }

  @Test
  void anotherPythonIsNamedByItsVersion() {
    NodePython other = python("3.12.1", "\"numpy-2.3\", \"torch-2.8.0\"");

    assertEquals(
        List.of(
            "refused different-python node 2: the Python has Python 3.12.1, not 3.11.2, unlike"
                + " node 1"),
        findings(gang(), List.of(new NodePython.Unknown("slow"), SAME, other), Map.of()));
  }

  @Test
  void aMissingPythonFailsOnlyWhereOtherNodesHaveOne() {
    NodePython none = new NodePython.Missing("none of python3 is there");

    assertEquals(
        List.of("refused no-python node 1: no Python for runs: none of python3 is there"),
        findings(gang(), List.of(SAME, none), Map.of()));
    assertEquals(
        List.of("note no-python nodes 0, 1: no Python for runs: none of python3 is there"),
        findings(gang(), List.of(none, none), Map.of()));
  }

  @Test
  void lockedMemoryThatDiffersIsAWarningWhereThereIsRdma() {
    Json port = Json.object("device", "mlx5_0", "port", 1, "state", "ACTIVE", "verbs", "open");
    Json more = Json.object("memlock", -1, "rdma", List.of(port));
    Json less = Json.object("memlock", 64 << 10, "rdma", List.of(port));
    String what =
        "the memory that may be locked differs: unlimited on nodes 0, 2, 64 KiB on node 1";

    List<FabricFinding> found =
        FactsRule.findings(gang(more, less, more), List.of(SAME, SAME, SAME), Map.of());

    assertEquals(List.of(what), found.stream().map(FabricFinding::what).toList());
    assertEquals(FabricFinding.Severity.WARNING, found.getFirst().severity());
    assertEquals(
        List.of("note different-memlock " + what),
        findings(
            gang(
                Json.object("memlock", -1),
                Json.object("memlock", 64 << 10),
                Json.object("memlock", -1)),
            List.of(SAME, SAME, SAME),
            Map.of()));
  }

  @Test
  void aNodeThatIsGoneFailsAndOneThatIsSilentIsAWarning() {
    assertEquals(
        List.of(
            "refused lost node 3: gone",
            "warning silent nodes 1, 2: no answer about the network in time"),
        findings(
                gang(),
                List.of(SAME),
                Map.of("lost", List.of(3), "no answer about the network in time", List.of(1, 2)))
            .stream()
            .sorted()
            .toList());
  }
}
