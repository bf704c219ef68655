package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.launch.node.NodeCalls;

/**
 * The attempts of a run that was started again.
 *
 * @param number of the present one, from 1
 * @param kept how many before it have output on the nodes
 */
public record Attempts(int number, int kept) {
  private static final Attempts ONE = new Attempts(1, 0);

  /**
   * As a node of the run says; one that is lost or does not know the run has no earlier output of
   * it.
   */
  public static Attempts of(RunRecord record, NodeCalls node) throws InterruptedException {
    if (record.asked().options().ranks().restarts() == 0) {
      return ONE;
    }
    Json status;
    try {
      status = node.call("run.status", Json.object("run", record.number()));
    } catch (GpushException failed) {
      if (node.isLost() || RunStart.isRefused(failed, "not-found")) {
        return ONE;
      }
      throw failed;
    }
    int kept = status.integer("before").orElse(0);
    return new Attempts(status.integer("attempt").orElse(kept + 1), kept);
  }
}
