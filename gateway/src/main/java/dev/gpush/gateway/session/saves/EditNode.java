package dev.gpush.gateway.session.saves;

import dev.gpush.core.config.Config;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;

/**
 * The node where people edit, as {@code sync: {edit: 1}} names it; node 0 unless it does.
 *
 * @param index not always one of the session's nodes
 */
public record EditNode(int index) {
  public static EditNode of(Config config) {
    return new EditNode(config.number("sync.edit").map(Math::toIntExact).orElse(0));
  }

  public boolean isAmong(int nodes) {
    return index < nodes;
  }

  /**
   * The same, for a session with this number of nodes.
   *
   * @throws GpushException when it has no such node
   */
  public EditNode require(int nodes) {
    if (!isAmong(nodes)) {
      throw new GpushException(new ConfigFailure.NoEditNode(index, nodes));
    }
    return this;
  }
}
