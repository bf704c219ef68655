package dev.gpush.sync.node;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;

/**
 * A conversation ended in the middle. Tried once more when it was an old one; never leaves the
 * module.
 */
public final class NodeLost extends Exception {
  private static final long serialVersionUID = 1;

  private final int node;

  public NodeLost(int node, Throwable cause) {
    super(cause);
    this.node = node;
  }

  public int node() {
    return node;
  }

  public GpushException failure() {
    Throwable cause = getCause();
    String reason = cause == null ? "" : String.valueOf(cause.getMessage());
    return new GpushException(
        new AgentFailure.LinkOver(
            node, reason.equals("null") ? "the stream of its files ended" : reason),
        this);
  }
}
