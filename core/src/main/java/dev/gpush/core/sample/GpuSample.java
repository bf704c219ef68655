package dev.gpush.core.sample;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * What one GPU does. A value that the driver does not give is empty.
 *
 * @param slot what runs claim of it: its number or name
 * @param percent of the time in which something was computed
 * @param problem why nothing is known of it, in the driver's word; empty when it answers
 */
public record GpuSample(
    String slot,
    String model,
    Optional<Integer> percent,
    NodeSample.Amount memory,
    Power power,
    Clocks clocks,
    String problem) {
  /**
   * @param celsius its temperature
   */
  public record Power(
      Optional<Double> watts, Optional<Double> limitWatts, Optional<Integer> celsius) {}

  /**
   * @param throttled why the clock is not the highest: idle, power-cap, hw-thermal and others of
   *     docs/technical/top.md
   */
  public record Clocks(
      Optional<Integer> smMhz, Optional<Integer> memoryMhz, List<String> throttled) {
    public Clocks {
      throttled = List.copyOf(throttled);
    }
  }

  static GpuSample from(Json said) {
    return new GpuSample(
        said.text("gpu").orElse(""),
        said.text("name").orElse(""),
        said.integer("util"),
        NodeSample.Amount.from(said, "memory_used", "memory_total"),
        new Power(said.real("power_w"), said.real("power_limit_w"), said.integer("temperature")),
        new Clocks(said.integer("sm_mhz"), said.integer("memory_mhz"), said.texts("throttled")),
        said.text("problem").orElse(""));
  }
}
