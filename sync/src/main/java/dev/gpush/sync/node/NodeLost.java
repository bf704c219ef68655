package dev.gpush.sync.node;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import org.jspecify.annotations.Nullable;

/**
 * A conversation ended in the middle. Tried once more when it was an old one; never leaves the
 * module.
 */
public final class NodeLost extends Exception {
  private static final long serialVersionUID = 1;

  private final int node;
  private final String slow;

  public NodeLost(int node, Throwable cause) {
    this(node, cause, "");
  }

  private NodeLost(int node, @Nullable Throwable cause, String slow) {
    super(cause);
    this.node = node;
    this.slow = slow;
  }

  /** The conversation was ended here, because the node was slow. */
  public NodeLost because(String why) {
    return new NodeLost(node, getCause(), why);
  }

  /** Why it was ended here, as a clause about the node; empty if it broke. */
  public String slow() {
    return slow;
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
