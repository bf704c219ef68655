package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import java.util.Optional;

/**
 * What the network of a plan carries from one node in one direction, in Gbit/s.
 *
 * @param isRdma whether network devices move the data, and not the processors
 */
public record FabricRate(double gbits, boolean isRdma) {
  Json.Obj json() {
    return Json.object("gbits", gbits, "rdma", isRdma);
  }

  static Optional<FabricRate> read(Json json) {
    return json.real("gbits").map(gbits -> new FabricRate(gbits, json.flag("rdma")));
  }
}
