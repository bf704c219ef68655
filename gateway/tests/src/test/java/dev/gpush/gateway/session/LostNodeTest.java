package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.ssh.connection.Route;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A gang that lost a node: it is said, the others work on, and nothing is given back for it. */
@Execution(ExecutionMode.CONCURRENT)
final class LostNodeTest {
  private static final SessionFailure.NodesLost LOST =
      new SessionFailure.NodesLost("devbox", "node 1", 2, "dead nodes: [1]");

  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
    gateway = rig.gateway();
    project = rig.project("project");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private SessionView loseNodeOne() throws Exception {
    SessionView made = gateway.up(ask(project, 2), Talk.silent());
    lose(made);
    return made;
  }

  /** As a power cut would: whatever runs there ends with it. */
  private void lose(SessionView made) {
    rig.site().kill(rig.gang(made), 1);
    ProcessHandle agent = ProcessHandle.of(made.nodes().get(1).agentPid()).orElseThrow();
    List<ProcessHandle> below = agent.descendants().toList();
    agent.destroyForcibly();
    below.forEach(ProcessHandle::destroyForcibly);
  }

  private void awaitDegraded() {
    until(
        "it names the node",
        () ->
            gateway.list().stream()
                .anyMatch(view -> view.detail().equals("node 1 is lost: dead nodes: [1]")));
    assertEquals(List.of(SessionState.DEGRADED), SessionRig.states(gateway));
  }

  @Test
  void theSessionIsDegradedAndTheOtherNodeWorksOn() throws Exception {
    SessionView made = loseNodeOne();
    awaitDegraded();

    assertInstanceOf(Route.Node.class, gateway.routes().route("devbox"));
    assertEquals(
        LOST, assertInstanceOf(Route.Refused.class, gateway.routes().route("devbox-1")).failure());
    LiveSession live = gateway.find(DEVBOX);
    assertEquals(0, live.link(0).call("status", Json.object()).number("node").orElseThrow());
    assertTrue(gateway.list().getFirst().idleLeft().isPresent());
    gateway.extend(DEVBOX, Optional.empty());
    GpushException refused =
        assertThrows(GpushException.class, () -> gateway.sync(DEVBOX, false, Talk.silent()));
    assertEquals(LOST, refused.failure());

    GpushException missing =
        assertThrows(GpushException.class, () -> gateway.up(ask(project, 2), Talk.silent()));
    assertEquals(LOST, missing.failure());
    SessionView whole = gateway.up(SessionRig.replacing(ask(project, 2)), Talk.silent());
    assertNotEquals(made.id(), whole.id());
    assertEquals(SessionState.READY, whole.state());
    rig.assertOneGang();
  }

  @Test
  void aRunOnBothNodesIsLostAndStopsOnTheOther() throws Exception {
    SessionView made = gateway.up(ask(project, 2), Talk.silent());
    RunView both = gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());
    Json.Obj asked = Json.object("run", both.number());

    lose(made);

    until("it is over", () -> gateway.runs().find(DEVBOX, Optional.of(both.number())).isOver());
    Json node0 = gateway.find(DEVBOX).link(0).call("run.status", asked);
    assertTrue(node0.object("exit").flag("stopped"), node0::write);
  }

  @Test
  void aBugOfTheBackendDoesNotEndTheLook() throws Exception {
    rig.trouble().fail(Operation.OBSERVE, Moment.BUG);

    loseNodeOne();

    awaitDegraded();
  }

  @Test
  @Tag("local")
  void theNextGatewayFindsItDegradedToo() throws Exception {
    loseNodeOne();
    awaitDegraded();
    gateway.close();

    gateway = rig.gateway();
    gateway.recover();

    awaitDegraded();
    assertInstanceOf(Route.Node.class, gateway.routes().route("devbox"));
    // The pretended site cleans up after no dead node.
    assertEquals(1, gateway.down(DEVBOX, true, Talk.silent()).kept().size());
    rig.assertNothingLeft(gateway);
  }
}
