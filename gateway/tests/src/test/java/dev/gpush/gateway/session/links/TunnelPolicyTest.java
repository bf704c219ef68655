package dev.gpush.gateway.session.links;

import static dev.gpush.gateway.session.links.TunnelPolicy.Choice.DIRECT;
import static dev.gpush.gateway.session.links.TunnelPolicy.Choice.TUNNEL;
import static dev.gpush.gateway.session.links.TunnelPolicy.Choice.WAIT;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class TunnelPolicyTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration SETTLED = Duration.ofSeconds(15);

  private final ManualClock clock = new ManualClock();
  private final TunnelPolicy policy =
      new TunnelPolicy(List.of(0, 1, 2, 3), PATIENCE, clock.nanos());

  private void up(int... nodes) {
    IntStream.of(nodes).forEach(node -> policy.changed(node, true, clock.nanos()));
  }

  private void down(int... nodes) {
    IntStream.of(nodes).forEach(node -> policy.changed(node, false, clock.nanos()));
  }

  private List<TunnelPolicy.Choice> choices() {
    return IntStream.of(1, 2, 3)
        .mapToObj(node -> policy.choose(node, false, clock.nanos()))
        .toList();
  }

  @Test
  void allWaitForNodeZeroAndGoThroughIt() {
    assertEquals(List.of(WAIT, WAIT, WAIT), choices());

    up(0);

    assertEquals(List.of(TUNNEL, TUNNEL, TUNNEL), choices());
  }

  @Test
  void aCutOfNodeZeroIsWaitedFor() {
    up(0, 1, 2, 3);
    down(0);
    clock.advance(PATIENCE.minusMillis(1));

    assertEquals(List.of(WAIT, WAIT, WAIT), choices());
  }

  @Test
  void whoWasRefusedHasAPipeOfItsOwnAndTheOthersHaveNot() {
    policy.refuse(2, "no-tls", clock.nanos());
    assertEquals(List.of(WAIT, DIRECT, WAIT), choices());

    up(0);

    assertEquals(List.of(TUNNEL, DIRECT, TUNNEL), choices());
    assertEquals(Map.of(2, "no-tls"), policy.refused());
  }

  @Test
  void whatMayBeOverIsTriedAgainAndWhatStaysIsNot() {
    up(0);
    policy.refuse(1, "timeout", clock.nanos());
    policy.refuse(2, "no-tls", clock.nanos());
    assertEquals(List.of(DIRECT, DIRECT, TUNNEL), choices());

    clock.advance(Duration.ofMinutes(10));

    assertEquals(List.of(TUNNEL, DIRECT, TUNNEL), choices());
  }

  @Test
  void aLostNodeZeroIsNotWaitedFor() {
    assertEquals(DIRECT, policy.choose(3, true, clock.nanos()));
  }

  @Test
  void whenAllAreCutOneTriesFirst() {
    up(0, 1, 2, 3);
    down(0, 1, 2, 3);
    clock.advance(Duration.ofHours(8));

    assertEquals(List.of(DIRECT, WAIT, WAIT), choices());
  }

  @Test
  void theOthersFollowWhenThatOneIsThereAndNodeZeroIsStillNot() {
    up(0, 1, 2, 3);
    down(0, 1, 2, 3);
    clock.advance(PATIENCE);
    assertEquals(List.of(DIRECT, WAIT, WAIT), choices());

    up(1);
    // Node 0 gets the same chance.
    clock.advance(SETTLED.minusMillis(1));
    assertEquals(WAIT, policy.choose(3, false, clock.nanos()));
    clock.advance(Duration.ofMillis(1));

    assertEquals(DIRECT, policy.choose(3, false, clock.nanos()));
    assertEquals(DIRECT, policy.choose(2, false, clock.nanos()));
  }

  @Test
  void aNodeThatWasLinkedAllTheTimeProvesNothing() {
    up(0, 1, 2, 3);
    down(0, 2, 3);
    clock.advance(PATIENCE.multipliedBy(2));

    assertEquals(DIRECT, policy.choose(2, false, clock.nanos()));
    assertEquals(WAIT, policy.choose(3, false, clock.nanos()));
  }

  @Test
  void whenNodeZeroIsBackPipesOfTheirOwnAreGivenUp() {
    up(0, 1, 2, 3);
    down(0, 1, 2, 3);
    clock.advance(PATIENCE);
    choices();
    up(1);

    assertEquals(List.of(1), policy.changed(0, true, clock.nanos()));

    assertEquals(List.of(TUNNEL, TUNNEL, TUNNEL), choices());
    down(0);
    assertEquals(List.of(), policy.changed(0, true, clock.nanos()));
  }
}
