package dev.gpush.launch.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunReason;
import dev.gpush.launch.journal.NodeEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who failed first, from what the nodes wrote. */
final class RunVerdictTest {
  private static final String IMPORT =
      "{\"code\": \"import\", \"type\": \"ModuleNotFoundError\", \"message\": \"No module named"
          + " 'boto3'\", \"frame\": {\"file\": \"trainer.py\", \"line\": 16}}";

  private static RunFailure of(String gpu, long[] starts, String... exits) {
    var nodes = new ArrayList<NodeInfo>();
    var parts = new ArrayList<RunRecord.Part>();
    var ends = new ArrayList<NodeEnd>();
    for (int i = 0; i < exits.length; i++) {
      nodes.add(new NodeInfo(i, "gpu" + (i + 1), "", List.of("0", "1"), gpu, 8, "/w"));
      parts.add(new RunRecord.Part(i, List.of("0", "1"), i * 2, 2, starts[i]));
      ends.add(NodeEnd.from(Json.parse(exits[i])));
    }
    return new RunVerdict(nodes, parts, ends)
        .failure(node -> node == 1 ? RunReason.Loss.NODE : RunReason.Loss.START)
        .orElseThrow();
  }

  private static String first(int rank, int exit, long at, boolean asked, String reason) {
    return "{\"exit\": %d, \"stopped\": %b, \"first\": {\"rank\": %d, \"exit\": %d, \"at_ms\": %d,"
            .formatted(exit, asked, rank, exit, at)
        + " \"asked\": %b%s}}".formatted(asked, reason.isEmpty() ? "" : ", \"reason\": " + reason);
  }

  @Test
  void theEarliestOfAllNodesIsNamedWithThoseThatFailedAlike() {
    String node0 =
        "{\"exit\": 1, \"first\": {\"rank\": 1, \"exit\": 1, \"at_ms\": 900, \"asked\": false,"
            + " \"reason\": R}, \"failures\": [{\"ranks\": [1, 0], \"exit\": 1, \"at_ms\": 900,"
            + " \"asked\": false, \"reason\": R}]}";
    String node1 = node0.replace("1, 0]", "2, 3]").replace("\"rank\": 1", "\"rank\": 2");

    RunFailure failure =
        of(
            "H100",
            new long[] {0, 50},
            node0.replace("R", IMPORT),
            node1.replace("R", IMPORT).replace("900", "700"));

    assertEquals(2, failure.rank());
    assertEquals(new RunFailure.Where(1, "gpu2", true, Optional.of("0")), failure.where());
    assertEquals(
        new RunReason.Raised("ModuleNotFoundError", "No module named 'boto3'"), failure.reason());
    assertEquals(List.of(0, 1, 3), failure.same());
    assertEquals(failure, RunFailure.from(Json.parse(failure.json().write())));
  }

  @Test
  void whoOnlyLostItsConnectionIsNotTheFirst() {
    String lost = first(0, 1, 100, false, "{\"code\": \"peer\", \"type\": \"RuntimeError\"}");
    String killed = first(3, 1, 400, false, "{\"code\": \"memory\", \"scope\": \"machine\"}");

    assertEquals(3, of("", new long[] {0, 0}, lost, killed).rank());
    assertEquals(0, of("", new long[] {0, 0}, lost, "{\"exit\": 0}").rank());
  }

  @Test
  void oldAgentsGiveNoReason() {
    RunFailure failure =
        of("", new long[] {0, 0}, first(1, 15, 10, true, ""), first(2, 7, 90, false, ""));

    assertEquals(2, failure.rank());
    assertEquals("unknown", failure.code());
    assertEquals(new RunReason.Exited(7), failure.reason());
    assertEquals(List.of(), failure.same());
    assertEquals(Optional.empty(), failure.where().gpu());
  }

  @Test
  void aNodeThatIsGoneIsTheReason() {
    RunFailure failure =
        of(
            "",
            new long[] {0, 0},
            first(0, 1, 5, false, "{\"code\": \"peer\"}"),
            "{\"lost\": true}");

    assertEquals(new RunReason.NodeLost(RunReason.Loss.NODE), failure.reason());
    assertEquals(1, failure.where().node());
  }

  @Test
  void aNodeThatTheGatewayDidNotReachIsNamed() {
    RunFailure failure = of("", new long[] {0}, "{\"lost\": true}");

    assertEquals(new RunReason.NodeLost(RunReason.Loss.START), failure.reason());
  }

  @Test
  void aReasonOfANewerAgentKeepsItsCode() {
    RunFailure failure =
        of("", new long[] {0}, first(0, 1, 5, false, "{\"code\": \"cosmic-ray\", \"more\": [1]}"));

    assertEquals(new RunReason.Other("cosmic-ray"), failure.reason());
    assertTrue(failure.json().write().contains("\"more\":[1]"));
  }

  @Test
  void whatIsLeftNamesItsNode() {
    RunFailure failure =
        of(
            "",
            new long[] {0, 0},
            first(0, 1, 5, false, "").replaceFirst("\\{", "{\"left\": {\"port\": {\"port\": 9}}, "),
            "{\"exit\": 0, \"left\": {}}");

    assertEquals(1, failure.left().size());
    assertEquals("gpu1", failure.left().getFirst().text("host").orElseThrow());
  }
}
