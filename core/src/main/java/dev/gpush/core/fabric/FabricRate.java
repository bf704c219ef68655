package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import java.util.Optional;

/**
 * What the expected transport carries from one node in one direction.
 *
 * @param isRdma whether network devices move the data, and not the processors
 */
public record FabricRate(double gbits, boolean isRdma) {
  Json.Obj json() {
    return Json.object("gbits", gbits, "rdma", isRdma);
  }

  static Optional<FabricRate> read(Json json) {
    return json.get("gbits")
        .flatMap(
            gbits ->
                switch (gbits) {
                  case Json.Int(var whole) -> Optional.of((double) whole);
                  case Json.Real(var real) -> Optional.of(real);
                  case Json.Null _, Json.Bool _, Json.Text _, Json.Arr _, Json.Obj _ ->
                      Optional.<Double>empty();
                })
        .map(gbits -> new FabricRate(gbits, json.flag("rdma")));
  }
}
