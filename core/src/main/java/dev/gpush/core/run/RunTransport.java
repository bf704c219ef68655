package dev.gpush.core.run;

import dev.gpush.core.json.Json;

/**
 * The network that the ranks of a run really use.
 *
 * @param network {@code 8 rails of 400G InfiniBand}, {@code TCP over eth0}
 * @param although what is there and not used; empty where the network is as good as expected
 * @param because why, where that is known
 * @param remedy what to try; empty where there is nothing to try
 * @param evidence where it was found
 */
public record RunTransport(
    String network, String although, String because, String remedy, Evidence evidence) {
  /**
   * Where it was found.
   *
   * @param by {@code nccl}: NCCL's own log; {@code counters}: of the network devices
   * @param isAsked the user asked for NCCL's log
   * @param logs the files on each node; empty where there are none
   */
  public record Evidence(String by, boolean isAsked, String logs) {}

  /** Whether a faster network is there. */
  public boolean isWorse() {
    return !although.isEmpty();
  }

  /** {@code TCP over eth0, although 400G InfiniBand is there: NCCL cannot load …}. */
  public String finding() {
    return network
        + (although.isEmpty() ? "" : ", although " + although)
        + (because.isEmpty() ? "" : ": " + because);
  }

  /** The finding, and what to try. */
  public String sentence() {
    return finding() + (remedy.isEmpty() ? "" : "; try: " + remedy);
  }

  /** The form that is stored with a run and printed by {@code --json}. */
  public Json.Obj json() {
    return Json.object(
        "network", network,
        "although", although,
        "because", because,
        "try", remedy,
        "by", evidence.by(),
        "asked", evidence.isAsked(),
        "logs", evidence.logs());
  }

  /** What {@link #json} wrote; of anything else what can be read. */
  public static RunTransport read(Json json) {
    return new RunTransport(
        json.text("network").orElse(""),
        json.text("although").orElse(""),
        json.text("because").orElse(""),
        json.text("try").orElse(""),
        new Evidence(json.text("by").orElse(""), json.flag("asked"), json.text("logs").orElse("")));
  }
}
