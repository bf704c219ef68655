package dev.gpush.gateway.session.links;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.awaitSettled;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.FewPipes;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.SessionRig;
import dev.gpush.gateway.session.live.LiveSession;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A gang of three on a backend that gives it one pipe. */
@Tag("local")
@Execution(ExecutionMode.CONCURRENT)
final class TunnelsTest {
  private SessionRig rig;
  private FewPipes backend;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
    backend = new FewPipes(rig.backend());
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private GatewaySessions gateway() {
    return rig.gateway(List.of(backend), SessionRig.DEADLINE);
  }

  private static List<Long> nodesThatAnswer(GatewaySessions gateway) {
    LiveSession session = gateway.find(DEVBOX);
    return IntStream.range(0, session.links().size())
        .filter(node -> !session.isLost(node))
        .mapToObj(node -> number(session, node))
        .toList();
  }

  private static long number(LiveSession session, int node) {
    try {
      return session.link(node).call("status", Json.object()).number("node").orElseThrow();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stop);
    }
  }

  @Test
  void allNodesAreLinkedOverTheOnePipe() throws Exception {
    GatewaySessions gateway = gateway();

    SessionView made = gateway.up(ask(rig.project("project"), 3), Talk.silent());

    assertEquals(SessionState.READY, made.state());
    assertEquals(List.of(0L, 1L, 2L), nodesThatAnswer(gateway));
    assertEquals(List.of(0), backend.nodes());
  }

  @Test
  void soDoesTheNextGateway() throws Exception {
    GatewaySessions before = gateway();
    before.up(ask(rig.project("project"), 3), Talk.silent());
    before.close();
    backend.spawned().clear();

    GatewaySessions gateway = gateway();
    gateway.recover();
    awaitSettled(gateway);

    assertEquals(List.of(SessionState.READY), SessionRig.states(gateway));
    assertEquals(List.of(0L, 1L, 2L), nodesThatAnswer(gateway));
    assertEquals(List.of(0), backend.nodes());
  }

  @Test
  void withoutNodeZeroTheOthersHavePipesOfTheirOwn() throws Exception {
    GatewaySessions gateway = gateway();
    SessionView made = gateway.up(ask(rig.project("project"), 3), Talk.silent());

    rig.site().kill(rig.gang(made), 0);
    ProcessHandle.of(made.nodes().getFirst().agentPid()).orElseThrow().destroyForcibly();

    until(
        "node 0 is named",
        () -> gateway.list().stream().anyMatch(view -> view.detail().startsWith("node 0 is lost")));
    assertEquals(List.of(1L, 2L), nodesThatAnswer(gateway));
    assertTrue(backend.nodes().containsAll(List.of(1, 2)), backend.nodes()::toString);
  }
}
