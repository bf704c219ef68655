package dev.gpush.backends.remote;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class AgentAnswerTest {
  private static final GangId GANG = new GangId("0123456789abcdef");
  private static final Json.Obj STATUS = Json.object("do", "status");
  private static final AgentAnswer.Said OVER_LINK = new AgentAnswer.Said(Json.object("by", "link"));
  private static final AgentAnswer.Said BY_COMMAND =
      new AgentAnswer.Said(Json.object("by", "command"));

  private static Map<Integer, AgentAnswer> ask(
      LinkedAgents linked, List<Integer> commands, Map<Integer, AgentAnswer> answers)
      throws InterruptedException {
    return AgentAnswer.ask(
        linked,
        GANG,
        List.of(0, 1, 2),
        STATUS,
        Duration.ofSeconds(1),
        nodes -> {
          commands.addAll(nodes);
          return answers;
        });
  }

  @Test
  void agentsThatAnswerOverTheirLinksAreNotAskedAgain() throws Exception {
    var commands = new ArrayList<Integer>();

    Map<Integer, AgentAnswer> answers =
        ask(
            (_, nodes, _, _) -> {
              var said = new TreeMap<Integer, Json>();
              nodes.forEach(node -> said.put(node, OVER_LINK.json()));
              return said;
            },
            commands,
            Map.of());

    assertEquals(Map.of(0, OVER_LINK, 1, OVER_LINK, 2, OVER_LINK), answers);
    assertEquals(List.of(), commands);
  }

  @Test
  void theOthersAreAskedWithCommandsWhichDoNotReplaceAnAnswer() throws Exception {
    var commands = new ArrayList<Integer>();

    Map<Integer, AgentAnswer> answers =
        ask(
            (_, _, _, _) -> Map.of(1, OVER_LINK.json()),
            commands,
            Map.of(0, BY_COMMAND, 1, new AgentAnswer.NoAgent(), 2, new AgentAnswer.NoAgent()));

    assertEquals(List.of(0, 2), commands);
    assertEquals(Map.of(0, BY_COMMAND, 1, OVER_LINK, 2, new AgentAnswer.NoAgent()), answers);
    assertEquals(List.of(2), AgentAnswer.withoutAgent(answers));
  }

  @Test
  void aLeaseIsRenewedWhereNodeZeroHasAnsweredOrItsAgentHasEnded() {
    var silent = new AgentAnswer.Silent("no answer");
    assertDoesNotThrow(() -> AgentAnswer.requireRenewed(Map.of(0, BY_COMMAND, 1, silent)));
    assertDoesNotThrow(
        () -> AgentAnswer.requireRenewed(Map.of(0, new AgentAnswer.NoAgent(), 1, BY_COMMAND)));
    assertDoesNotThrow(() -> AgentAnswer.requireRenewed(Map.of(1, BY_COMMAND)));

    Unanswered without =
        assertThrows(
            Unanswered.class, () -> AgentAnswer.requireRenewed(Map.of(0, silent, 1, BY_COMMAND)));
    assertEquals("node 0: no answer", without.words());
    Unanswered one =
        assertThrows(
            Unanswered.class,
            () ->
                AgentAnswer.requireRenewed(
                    new TreeMap<>(Map.of(0, new AgentAnswer.NoAgent(), 1, silent, 2, BY_COMMAND))));
    assertEquals("node 0: no agent, node 1: no answer", one.words());
    Unanswered none =
        assertThrows(Unanswered.class, () -> AgentAnswer.requireRenewed(Map.of(1, silent)));
    assertEquals("node 1: no answer", none.words());
  }

  @Test
  void aGangIsGoneWhenAllItsNodesAreLostAndNoneIsSilent() {
    List<NodeInfo> nodes = List.of(node(0), node(2));
    var none = new AgentAnswer.NoAgent();
    var silent = new AgentAnswer.Silent("no answer");

    assertEquals(new Observation.Exists(), observed(Map.of(0, BY_COMMAND, 2, BY_COMMAND), nodes));
    assertEquals(
        new Observation.Partly(List.of(2), "no agent on node 2"),
        observed(Map.of(0, BY_COMMAND, 2, none), nodes));
    assertEquals(new Observation.Gone("no agent on nodes 0, 2"), observed(Map.of(0, none), nodes));
    assertEquals(
        new Observation.CannotTell("node 0: no agent, node 2: no answer"),
        observed(Map.of(0, none, 2, silent), nodes));
  }

  private static Observation observed(Map<Integer, AgentAnswer> answers, List<NodeInfo> nodes) {
    return AgentAnswer.observation(new TreeMap<>(answers), nodes, "no agent");
  }

  private static NodeInfo node(int index) {
    return new NodeInfo(index, "host", "127.0.0.1", List.of("0"), "", 1, "/work");
  }

  @Test
  void processesThatDoNotEndAreNamedWithTheirNodes() {
    Json stuck = Json.object("left", List.of("python3 (pid 7)", "dd (pid 9)"));

    assertEquals("", AgentAnswer.left(Map.of(0, Json.object("kept", List.of("a.txt")))));
    assertEquals(
        "SIGKILL does not end python3 (pid 7) on node 1, dd (pid 9) on node 1",
        AgentAnswer.left(Map.of(1, stuck)));
  }

  @Test
  void keptFilesAreNamedWithTheirNodes() {
    Json said = Json.object("kept", List.of("a.txt", "/else/b.txt"));

    assertEquals(
        List.of("node 1: /work/a.txt", "node 1: /else/b.txt"),
        AgentAnswer.kept(Map.of(1, said), _ -> "/work"));
    assertEquals(
        List.of("node 1: a.txt", "node 1: /else/b.txt"),
        AgentAnswer.kept(Map.of(1, said), _ -> ""));
  }
}
