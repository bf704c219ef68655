package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;

/**
 * How fast all ranks together reduce messages of one size.
 *
 * @param bytes of the message on each rank
 * @param gbits the bus bandwidth, in Gbit/s: what each rank sends and receives at the least
 */
public record BusRate(long bytes, double gbits) {
  Json.Obj json() {
    return Json.object("bytes", bytes, "gbits", Math.round(gbits * 1000) / 1000.0);
  }
}
