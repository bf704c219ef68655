package dev.gpush.core.session;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.gang.GpuRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What all eligible backends answer to a request, and which would be asked.
 *
 * @param offers in the order of the configuration
 * @param chosen the backends that would be asked: one, or several queues; empty when none can
 * @param why one line; empty when there was no choice
 * @param smaller what would be granted now, by backend, where the request itself must wait
 *     everywhere
 */
public record Outlook(
    List<Offer> offers, List<String> chosen, String why, Map<String, Smaller> smaller) {
  public Outlook {
    offers = List.copyOf(offers);
    chosen = List.copyOf(chosen);
    smaller = Map.copyOf(smaller);
  }

  /** A part of the request: fewer nodes, or fewer GPUs on each. */
  public record Smaller(int nodes, GpuRequest gpus) {
    /** As {@code up} reads it: {@code --nodes 1 --gpus H100:8}. */
    public String options() {
      return "--nodes " + nodes + (gpus.isNone() ? "" : " --gpus " + gpus);
    }
  }

  /**
   * One backend's answer.
   *
   * @param price of the whole gang for an hour, if the configuration has one
   * @param hasQueue a request that does not fit now may wait there
   */
  public record Offer(String backend, Answer answer, Optional<Double> price, boolean hasQueue) {}

  /** A plan, or why there is none. */
  public sealed interface Answer {
    record Planned(Plan plan) implements Answer {}

    record Failed(Failure failure) implements Answer {}
  }
}
