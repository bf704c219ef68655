package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.fabric.FabricPlan;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class NetworkRateTest {
  private static Optional<NetworkRate> rate(String fabric) {
    return NetworkRate.of(new FabricPlan(2, "2 nodes", fabric, List.of(), List.of(), List.of()));
  }

  @Test
  void railsAddUp() {
    assertEquals(Optional.of(new NetworkRate(3200, true)), rate("8 rails of 400G InfiniBand"));
    assertEquals(Optional.of(new NetworkRate(200, true)), rate("1 rail of 200G RoCE"));
  }

  @Test
  void anInterfaceIsItsRate() {
    assertEquals(Optional.of(new NetworkRate(100, false)), rate("TCP over eth0 (100G)"));
    assertEquals(Optional.of(new NetworkRate(10, false)), rate("gloo over eth0 (10G)"));
    assertEquals(
        Optional.of(new NetworkRate(25, false)),
        rate("TCP over eth0 (25G), although 400G InfiniBand is there"));
  }

  @Test
  void whatIsNotKnownIsNotInvented() {
    for (String fabric :
        List.of(
            "7 to 8 rails of 400G InfiniBand",
            "8 rails of 400G InfiniBand or 100G RoCE",
            "NVLink between the nodes, then 8 rails of 400G InfiniBand",
            "TCP over eth0",
            "TCP over eth0 (100G) or eth1 (25G)",
            "4 rails of EFA",
            FabricPlan.UNKNOWN)) {
      assertEquals(Optional.empty(), rate(fabric), fabric);
    }
  }
}
