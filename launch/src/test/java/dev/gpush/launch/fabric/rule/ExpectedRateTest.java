package dev.gpush.launch.fabric.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.FabricRate;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a node's network carries, as far as the facts of all nodes say it. */
final class ExpectedRateTest {
  private static final FabricPlanner PLANNER = new FabricPlanner(() -> List.of());

  private static Optional<FabricRate> rate(Json gang, UserVariable... environment) {
    FabricPlan plan = PLANNER.plan(gang, List.of(environment));
    assertEquals(plan.rate(), FabricPlan.read(Json.parse(plan.json().write())).rate());
    return plan.rate();
  }

  private static Json rails(int first, int second, String link, Object gbits) {
    return Json.array(
        List.of(Gangs.rails(0, 2, first, link, gbits), Gangs.rails(1, 2, second, link, gbits)));
  }

  @Test
  void railsAddUp() {
    assertEquals(Optional.of(new FabricRate(3200, true)), rate(rails(8, 8, "InfiniBand", 400)));
    assertEquals(Optional.of(new FabricRate(200, true)), rate(rails(1, 1, "Ethernet", 200)));
  }

  @Test
  void anInterfaceIsItsRate() {
    var tcp = new UserVariable("NCCL_NET", "Socket", "--env");
    assertEquals(Optional.of(new FabricRate(100, false)), rate(Gangs.two()));
    assertEquals(
        Optional.of(new FabricRate(100, false)), rate(rails(8, 8, "InfiniBand", 400), tcp));
    Json blocked =
        Gangs.withEach(
            rails(1, 1, "InfiniBand", 400),
            "rdma",
            List.of(Gangs.port("mlx5_0", "ACTIVE", "InfiniBand", 400).with("verbs", "missing")));
    assertEquals(Optional.of(new FabricRate(100, false)), rate(blocked));
  }

  @Test
  void whatIsNotKnownIsNotInvented() {
    assertEquals(Optional.empty(), rate(rails(7, 8, "InfiniBand", 400)));
    assertEquals(Optional.empty(), rate(rails(8, 8, "InfiniBand", Optional.empty())));
    Json.Obj unlike = Gangs.rails(1, 2, 8, "InfiniBand", 200);
    assertEquals(
        Optional.empty(),
        rate(Json.array(List.of(Gangs.rails(0, 2, 8, "InfiniBand", 400), unlike))));
    assertEquals(Optional.empty(), rate(Json.array(List.of(Json.object(), Json.object()))));
    assertEquals(Optional.empty(), rate(Json.array(List.of(Gangs.plain(0, 1)))));
    assertEquals(Optional.empty(), rate(Json.array(List.of())));
  }
}
