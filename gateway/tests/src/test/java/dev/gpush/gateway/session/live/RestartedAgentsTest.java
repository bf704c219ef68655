package dev.gpush.gateway.session.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.FakeTalk;
import dev.gpush.testkit.fake.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RestartedAgentsTest {
  private final ManualClock clock = new ManualClock();
  private final Set<Integer> empty = new HashSet<>();
  @TempDir private Path base;
  private RestartedAgents agents;

  @BeforeEach
  void gateway() {
    agents = new RestartedAgents(base.resolve("session"), empty::contains, clock);
  }

  private boolean welcomed(int node, String agent, String... flags) {
    Json.Obj welcome = Json.object("agent", agent);
    for (String flag : flags) {
      welcome = welcome.with(flag, true);
    }
    return agents.welcomed(node, welcome);
  }

  private List<String> told() {
    FakeTalk talk = FakeTalk.answering(true);
    agents.say(talk);
    return talk.lines();
  }

  @Test
  void theFirstAgentIsNoRestart() {
    assertFalse(welcomed(0, "a"));
    assertFalse(welcomed(0, "a"));

    assertEquals(List.of(), agents.words());
  }

  @Test
  void theReasonOutlivesThePushThatFillsTheNode() {
    welcomed(1, "a");
    assertTrue(welcomed(1, "b", "bare"));
    agents.because(1, "it was evicted");
    clock.advance(Duration.ofMinutes(3));
    empty.add(1);
    String reason = "node 1 restarted with an empty disk 3m ago";
    assertEquals(
        List.of(reason + " (gpush sync sends the code again): it was evicted"), agents.words());

    empty.clear();

    assertEquals(List.of(reason + ": it was evicted"), agents.words());
    assertEquals(List.of(reason + ": it was evicted"), told());
    assertEquals(List.of(), agents.words());
  }

  @Test
  void theGreatestLossOfSeveralRestartsIsSaidAndTheLastTime() {
    for (String agent : List.of("a", "b", "c")) {
      welcomed(0, agent, agent.equals("c") ? "again" : "bare");
      clock.advance(Duration.ofSeconds(20));
    }

    assertEquals(List.of("node 0 restarted with an empty disk 20s ago"), agents.words());
  }

  @Test
  void theNextGatewaySaysWhatWasNotSaidAndWhatHappenedMeanwhile() {
    for (int node = 0; node < 3; node++) {
      welcomed(node, "a");
    }
    welcomed(1, "b");
    agents.because(1, "it was evicted");
    clock.advance(Duration.ofMinutes(3));

    gateway();
    welcomed(0, "a");
    assertTrue(welcomed(2, "b", "bare"));

    List<String> words =
        List.of(
            "node 1 restarted 3m ago: it was evicted",
            "node 2 restarted with an empty disk since gpush saw it last");
    assertEquals(words, agents.words());
    gateway();
    assertEquals(words, told());
    gateway();
    assertEquals(List.of(), agents.words());
    welcomed(2, "c");
    assertEquals(List.of("node 2 restarted since gpush saw it last"), agents.words());
  }

  @Test
  void aRestartWhileAnotherIsSaidIsKept() {
    welcomed(0, "a");
    welcomed(0, "b");
    Talk talk =
        FakeTalk.at(
            () -> {
              clock.advance(Duration.ofSeconds(1));
              welcomed(0, "c");
            });

    agents.say(talk);

    assertEquals(List.of("node 0 restarted 0s ago"), agents.words());
  }

  @Test
  void eachLossHasItsWords() {
    for (int node = 0; node < 3; node++) {
      welcomed(node, "a");
    }
    welcomed(0, "b", "again");
    welcomed(1, "b");
    welcomed(2, "b", "bare");
    empty.add(2);
    agents.because(1, "its container ended with 143");
    agents.because(7, "of a node that did not restart");

    assertEquals(
        List.of(
            "node 0 lost its terminals 0s ago because its agent was killed; another agent goes on",
            "node 1 restarted 0s ago: its container ended with 143",
            "node 2 restarted with an empty disk 0s ago (gpush sync sends the code again)"),
        agents.words());
  }
}
