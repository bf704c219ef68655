package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.fabric.FabricFinding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class PairRuleTest {
  private static final PairReply FINE = failing(Map.of());

  private static PairReply failing(Map<Integer, String> failures) {
    return new PairReply.Dialled(failures);
  }

  private static List<String> findings(PairReply... replies) {
    return PairRule.findings(List.of(replies)).stream()
        .map(each -> each.severity().word() + " " + each.nodes().words() + ": " + each.what())
        .toList();
  }

  @Test
  void nodesThatAllReachEachOtherHaveNoFindings() {
    assertEquals(List.of(), findings(FINE, FINE, FINE, FINE));
  }

  @Test
  void aNodeThatNoOtherReachesIsNamedAlone() {
    assertEquals(
        List.of("refused node 2: node 2: no TCP: from nodes 0, 1, 3: connection refused"),
        findings(
            failing(Map.of(2, "ECONNREFUSED")),
            failing(Map.of(2, "ECONNREFUSED")),
            FINE,
            failing(Map.of(2, "ECONNREFUSED"))));
  }

  @Test
  void aNodeThatReachesNoOtherIsNamedAloneWithBothDirections() {
    assertEquals(
        List.of(
            "refused node 1: node 1: no TCP: from node 0: no answer in time, packets may be"
                + " dropped; to nodes 0, 2, 3: no route to the host"),
        findings(
            failing(Map.of(1, "timeout")),
            failing(Map.of(0, "EHOSTUNREACH", 2, "EHOSTUNREACH", 3, "EHOSTUNREACH")),
            FINE,
            FINE));
  }

  @Test
  void oneBrokenPairNamesBothItsEnds() {
    assertEquals(
        List.of(
            "refused nodes 0, 3: no TCP from node 0 to node 3: another program answers at this"
                + " address"),
        findings(failing(Map.of(3, "foreign")), FINE, FINE, FINE));
  }

  @Test
  void ofTwoNodesBothAreNamed() {
    assertEquals(
        List.of(
            "refused nodes 0, 1: no TCP from node 0 to node 1: connection refused",
            "refused nodes 0, 1: no TCP from node 1 to node 0: no route to the network"),
        findings(failing(Map.of(1, "ECONNREFUSED")), failing(Map.of(0, "ENETUNREACH"))));
  }

  @Test
  void twoIslandsAreManyPairsAndNoNodeIsBlamed() {
    assertEquals(
        8,
        findings(
                failing(Map.of(2, "timeout", 3, "timeout")),
                failing(Map.of(2, "timeout", 3, "timeout")),
                failing(Map.of(0, "timeout", 1, "timeout")),
                failing(Map.of(0, "timeout", 1, "timeout")))
            .size());
  }

  @Test
  void sentencesAreLimited() {
    var replies = new ArrayList<PairReply>();
    for (int node = 0; node < 12; node++) {
      replies.add(failing(Map.of((node + 1) % 12, "timeout", (node + 2) % 12, "timeout")));
    }

    List<FabricFinding> found = PairRule.findings(replies);

    assertEquals(21, found.size());
    assertEquals("no TCP between 4 more pairs of nodes", found.getLast().what());
  }

  @Test
  void aNodeThatCannotListenIsNotAFailureOfTheOthers() {
    assertEquals(
        List.of(
            "refused node 1: node 1: cannot listen on its own address: no interface has this"
                + " address"),
        findings(
            failing(Map.of(1, "ECONNREFUSED")),
            new PairReply.Deaf("EADDRNOTAVAIL"),
            failing(Map.of(1, "ECONNREFUSED"))));
  }

  @Test
  void aNodeThatWasNotAskedIsAWarning() {
    assertEquals(
        List.of("warning node 1: node 1: its connections were not checked: no answer in time"),
        findings(FINE, new PairReply.Unasked("no answer in time"), FINE));
  }
}
