package dev.gpush.core.fabric;

import java.util.Optional;

/**
 * The network that ranks are expected to use.
 *
 * @param words {@code 8 rails of 400G InfiniBand}; empty on one machine whose GPUs need none
 * @param better what a run over TCP leaves unused: {@code 8 rails of 400G InfiniBand are there};
 *     empty where TCP is all there is, or what was chosen
 * @param rate empty where nodes differ, where NVLink comes first, and where it is not known
 */
public record ExpectedNetwork(String words, String better, Optional<FabricRate> rate) {
  /** Where nothing tells it. */
  public static final ExpectedNetwork UNKNOWN = named("not known; NCCL chooses");

  /** Of which only the words are known. */
  public static ExpectedNetwork named(String words) {
    return new ExpectedNetwork(words, "", Optional.empty());
  }
}
