package dev.gpush.gateway.session.live;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.AgentLinks;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.SessionRig;
import dev.gpush.gateway.session.TwoGatewaysTest;
import dev.gpush.testkit.fake.PassingBackend;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** What a backend may ask the agents of a session, over the links of that session. */
final class SessionAgentsTest {
  private static final Json.Obj STATUS = Json.object("do", "status");
  private static final List<Integer> BOTH = List.of(0, 1);

  /**
   * Asks over the links before it does what it is for.
   *
   * @param heard what it asked, and the nodes that answered
   */
  private static final class AskingBackend extends PassingBackend {
    private final Backend real;
    private final LinkedAgents linked;
    private final Queue<String> heard;

    AskingBackend(Backend real, LinkedAgents linked, Queue<String> heard) {
      super(real);
      this.real = real;
      this.linked = linked;
      this.heard = heard;
    }

    private void heard(Gang gang, Json.Obj control) throws InterruptedException {
      Set<Integer> said = linked.ask(gang.id(), BOTH, control, SessionRig.DEADLINE).keySet();
      heard.add(control.text("do").orElse("") + " " + said);
    }

    @Override
    public Capabilities capabilities() {
      return super.capabilities()
          .with(AgentLinks.class, agents -> new AskingBackend(real, agents, heard));
    }

    @Override
    public void renew(Gang gang, LeaseTerms terms) {
      try {
        heard(gang, terms.json().with("do", "renew"));
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public List<String> release(Gang gang, Duration limit) throws InterruptedException {
      heard(gang, Json.object("do", "release"));
      return super.release(gang, limit);
    }
  }

  @Test
  void agentsAreAskedOverTheirLinksAlsoToLetGo() throws Exception {
    try (var rig = SessionRig.calm()) {
      var heard = new ConcurrentLinkedQueue<String>();
      var backend = new AskingBackend(rig.backend(), LinkedAgents.NONE, heard);
      GatewaySessions gateway = rig.gateway(List.of(backend), SessionRig.DEADLINE);
      SessionView made = gateway.up(ask(rig.project("project"), 2), Talk.silent());

      Duration left =
          gateway.extend(DEVBOX, Optional.of(Duration.ofHours(2))).hardEndLeft().orElseThrow();
      assertTrue(left.compareTo(Duration.ofMinutes(119)) > 0, left::toString);
      assertEquals(List.of(), gateway.down(DEVBOX, true, Talk.silent()).kept());

      assertEquals(List.of("renew [0, 1]", "release [0, 1]"), List.copyOf(heard));
      until(
          "the agents have ended",
          () ->
              made.nodes().stream().allMatch(node -> ProcessHandle.of(node.agentPid()).isEmpty()));
      rig.assertNothingLeft(gateway);
    }
  }

  /** A node whose link is cut says nothing; nobody waits for it, and the other one answers. */
  @Test
  void whoIsCutIsLeftOutAndOtherGangsAreNotAsked() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      SessionView made = gateway.up(ask(rig.project("project"), 2), Talk.silent());
      LiveSession session = gateway.find(DEVBOX);
      var agents = new SessionAgents(session);
      GangId gang = session.gang().id();

      assertEquals(Set.of(0, 1), agents.ask(gang, BOTH, STATUS, SessionRig.DEADLINE).keySet());
      assertEquals(Set.of(1), agents.ask(gang, List.of(1), STATUS, SessionRig.DEADLINE).keySet());
      assertEquals(
          Map.of(), agents.ask(gang, BOTH, Json.object("do", "what"), SessionRig.DEADLINE));
      assertEquals(
          Map.of(),
          agents.ask(new GangId("ab".repeat(8)), BOTH, STATUS, SessionRig.DEADLINE),
          "another gang");

      ProcessHandle.of(made.nodes().get(1).agentPid()).orElseThrow().destroyForcibly();
      until(
          "it is known to be cut",
          () -> !(session.link(1).state() instanceof dev.gpush.link.LinkState.Up));
      assertEquals(Set.of(0), agents.ask(gang, BOTH, STATUS, SessionRig.DEADLINE).keySet());
    }
  }

  /** Whoever has the gang asks its agents; a gateway that was superseded can make none let go. */
  @Test
  void aGatewayThatLooksOnAsksNobody() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions first = rig.gateway();
      Path project = rig.project("project");
      first.up(ask(project, 2), Talk.silent());
      LiveSession session = first.find(DEVBOX);
      GatewaySessions other = rig.gateway(TwoGatewaysTest.copyOfHome(rig, "desk"), "me@desk");
      other.recover();
      other.up(ask(project, 2), Talk.silent());
      until("the first one is told", () -> session.superseded().isPresent());

      assertEquals(
          Map.of(),
          new SessionAgents(session)
              .ask(session.gang().id(), BOTH, Json.object("do", "release"), SessionRig.DEADLINE));

      assertEquals(
          Set.of(0, 1),
          new SessionAgents(other.find(DEVBOX))
              .ask(session.gang().id(), BOTH, STATUS, SessionRig.DEADLINE)
              .keySet());
      other.down(DEVBOX, true, Talk.silent());
    }
  }
}
