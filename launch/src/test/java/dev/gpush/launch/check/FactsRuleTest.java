package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

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

  private static List<String> findings(
      List<NodePython> pythons, Map<String, List<Integer>> silent) {
    return FactsRule.findings(pythons, silent).stream()
        .map(each -> each.severity().word() + " " + each.kind() + " " + each.what())
        .toList();
  }

  @Test
  void nodesThatAreAlikeHaveNoFindings() {
    assertEquals(List.of(), findings(List.of(SAME, SAME), Map.of()));
  }

  @Test
  void otherPackagesAreNamedOnceForAllNodesThatHaveThem() {
    NodePython other = python("3.11.2", "\"numpy-2.2\", \"torch-2.8.0\"");

    assertEquals(
        List.of(
            "refused different-python nodes 1, 2: the Python lacks numpy-2.3; has numpy-2.2,"
                + " unlike node 0"),
        findings(List.of(SAME, other, other, SAME), Map.of()));
  }

  @Test
  void anotherPythonIsNamedByItsVersion() {
    NodePython other = python("3.12.1", "\"numpy-2.3\", \"torch-2.8.0\"");

    assertEquals(
        List.of(
            "refused different-python node 2: the Python has Python 3.12.1, not 3.11.2, unlike"
                + " node 1"),
        findings(List.of(new NodePython.Unknown("slow"), SAME, other), Map.of()));
  }

  @Test
  void aMissingPythonFailsOnlyWhereOtherNodesHaveOne() {
    NodePython none = new NodePython.Missing("none of python3 is there");

    assertEquals(
        List.of("refused no-python node 1: no Python for runs: none of python3 is there"),
        findings(List.of(SAME, none), Map.of()));
    assertEquals(
        List.of("note no-python nodes 0, 1: no Python for runs: none of python3 is there"),
        findings(List.of(none, none), Map.of()));
  }

  @Test
  void nodesThatAreSilentAreAWarning() {
    assertEquals(
        List.of("warning silent nodes 1, 2: no answer about the network in time"),
        findings(List.of(SAME), Map.of("no answer about the network in time", List.of(1, 2))));
  }
}
