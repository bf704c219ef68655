package dev.gpush.launch.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SlotPlanTest {
  private static final List<NodeInfo> NODES =
      List.of(node(0, "0", "1", "2", "3"), node(1, "4", "5", "6", "7"));

  private static NodeInfo node(int index, String... slots) {
    return new NodeInfo(index, "host" + index, "10.0.0." + index, List.of(slots), "H100", 8, "/ws");
  }

  /** {@code 0:4}, {@code 0:5}. */
  private static List<String> names(SlotPlan plan) {
    return plan.claims().stream()
        .flatMap(claim -> claim.slots().stream().map(slot -> claim.node() + ":" + slot))
        .toList();
  }

  private static SlotPlan plan(
      String nodes, String gpus, String on, Map<Integer, Map<String, Integer>> busy) {
    return SlotPlan.of(NODES, ask(nodes, gpus, on), busy);
  }

  private static RunRequest.Claim ask(String nodes, String gpus, String on) {
    return new RunRequest.Claim(
        Optional.ofNullable(nodes).map(Integer::valueOf),
        Optional.ofNullable(gpus).map(GpuRequest::parse),
        Optional.ofNullable(on),
        false);
  }

  /** Racks of two blocks; node 3 has not been told where it is. */
  @ParameterizedTest
  @CsvSource({"-,-,0 2 1 5 3 4", "2,-,0 2", "-,1-5,1 5 2 3 4"})
  void neighboursHaveNeighbouringRanks(String count, String on, String expected) {
    List<NodeInfo> nodes =
        List.of(
            within(0, "west", "a"),
            within(1, "west", "b"),
            within(2, "west", "a"),
            within(3),
            within(4, "east", "c"),
            within(5, "west", "b"));
    SlotPlan plan =
        SlotPlan.of(
            nodes,
            ask(count.equals("-") ? null : count, null, on.equals("-") ? null : on),
            Map.of());

    assertEquals(
        expected,
        String.join(
            " ", plan.claims().stream().map(claim -> Integer.toString(claim.node())).toList()));
  }

  private static NodeInfo within(int index, String... parts) {
    return new NodeInfo(
        index, "host" + index, "10.0.0." + index, List.of("0"), "H100", 8, "/ws", List.of(parts));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "- | - | -          | 0:0 0:1 0:2 0:3 1:4 1:5 1:6 1:7",
        "1 | - | -          | 0:0 0:1 0:2 0:3",
        "- | 1 | -          | 0:0 1:4",
        "1 | 2 | -          | 0:0 0:1",
        "- | - | 1          | 1:4 1:5 1:6 1:7",
        "- | - | 0-1        | 0:0 0:1 0:2 0:3 1:4 1:5 1:6 1:7",
        "- | - | 0:2-3,1:0  | 0:2 0:3 1:4",
        "- | - | 1:3,0:1    | 0:1 1:7",
        "- | - | 0-1:0      | 0:0 1:4",
        "- | - | 0:1,0:1-2  | 0:1 0:2",
        "- | - | 1:6        | 1:6",
      })
  void claims(String nodes, String gpus, String on, String expected) {
    assertEquals(List.of(expected.strip().split(" ")), names(plan(nodes, gpus, on, Map.of())));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "3 | - | -",
        "0 | - | -",
        "- | 5 | -",
        "- | 0 | -",
        "- | - | 2",
        "- | - | 0:4",
        "- | - | x",
        "- | - | 0:",
        "- | - | :1",
        "- | - | 0:3-1",
        "- | - | 0:1-2-3",
        "- | - | 0,",
        "- | 1 | 0:1",
        "- | 5 | 0",
        "- | 1 | 2",
        "1 | - | 0",
        "- | - | 0:99999999999",
      })
  void refusesWhatCannotBe(String nodes, String gpus, String on) {
    var failed = assertThrows(GpushException.class, () -> plan(nodes, gpus, on, Map.of()));

    assertTrue(failed.failure() instanceof LaunchFailure.BadSlots, failed::toString);
  }

  @Test
  void twoRunsFitSideBySide() {
    var busy = Map.of(0, Map.of("0", 3), 1, Map.of("4", 3));

    assertEquals(List.of("0:1", "1:5"), names(plan(null, "1", null, busy)));
    assertEquals(List.of("0:1", "0:2"), names(plan("1", "2", null, busy)));
    assertEquals(List.of("1:6"), names(plan(null, null, "1:2", busy)));
  }

  @Test
  void aNumberOfSlotsOfNamedNodes() {
    var busy = Map.of(0, Map.of("0", 3), 1, Map.of("4", 3));

    assertEquals(List.of("1:5", "1:6"), names(plan(null, "2", "1", busy)));
    assertEquals(List.of("0:1", "1:5"), names(plan(null, "1", "0-1", busy)));
    assertEquals(
        new LaunchFailure.NoFreeSlots("--on 1 --gpus 4", List.of("run 3")),
        assertThrows(GpushException.class, () -> plan(null, "4", "1", busy)).failure());
  }

  @Test
  void prefersAnotherNodeToWaiting() {
    var busy = Map.of(0, Map.of("0", 3, "1", 3, "2", 3));

    assertEquals(List.of("1:4", "1:5"), names(plan("1", "2", null, busy)));
    assertEquals(List.of("1:4", "1:5", "1:6", "1:7"), names(plan("1", null, null, busy)));
  }

  @Test
  void namesTheRunsThatHoldWhatIsWanted() {
    var busy = Map.of(0, Map.of("0", 3, "1", 5), 1, Map.of("4", 7));

    assertEquals(
        new LaunchFailure.NoFreeSlots("all slots", List.of("run 3", "run 5", "run 7")),
        assertThrows(GpushException.class, () -> plan(null, null, null, busy)).failure());
    assertEquals(
        new LaunchFailure.NoFreeSlots("--on 0:1", List.of("run 5")),
        assertThrows(GpushException.class, () -> plan(null, null, "0:1", busy)).failure());
    assertEquals(
        new LaunchFailure.NoFreeSlots("--nodes 2 --gpus 4", List.of("run 3", "run 5", "run 7")),
        assertThrows(GpushException.class, () -> plan("2", "4", null, busy)).failure());
  }

  @Test
  void nodeWithoutSlotsRunsOneThing() {
    var bare = List.of(new NodeInfo(0, "h", "127.0.0.1", List.of(), "", 4, "/ws"));

    assertEquals(List.of("0:0"), names(SlotPlan.of(bare, ask(null, null, null), Map.of())));
  }

  @Test
  void slotsAreFoundByNameToo() {
    var cpus = List.of(new NodeInfo(0, "h", "127.0.0.1", List.of("cpu0", "cpu1"), "", 4, "/ws"));

    assertEquals(List.of("0:cpu1"), names(SlotPlan.of(cpus, ask(null, null, "0:cpu1"), Map.of())));
  }
}
