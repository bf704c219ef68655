package dev.gpush.sync;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import java.util.Objects;

/** Work failed on one node; a push without a user can do without it. */
public final class NodeFailed extends Exception {
  private static final long serialVersionUID = 1;

  private final int node;
  private final transient GpushException failure;
  private final String slow;
  private final boolean isLost;

  private NodeFailed(int node, GpushException failure, String slow, boolean isLost) {
    super(failure);
    this.node = node;
    this.failure = failure;
    this.slow = slow;
    this.isLost = isLost;
  }

  static NodeFailed of(int node, GpushException failure) {
    return new NodeFailed(node, failure, "", false);
  }

  /** Its conversation ended in the middle. */
  static NodeFailed lost(int node, Throwable cause) {
    String reason = Objects.requireNonNullElse(cause.getMessage(), "the stream of its files ended");
    var over = new AgentFailure.LinkOver(node, reason);
    return new NodeFailed(node, new GpushException(over, cause), "", true);
  }

  /**
   * Its conversation was ended here, because the node was slow.
   *
   * @param why a clause about the node
   */
  NodeFailed because(String why) {
    return new NodeFailed(node, failure, why, false);
  }

  public int node() {
    return node;
  }

  public GpushException failure() {
    return failure;
  }

  /** Its conversation broke, as one does that is old: another is worth a try. */
  boolean isLost() {
    return isLost;
  }

  /** It is connected, but the push did not wait for it: {@link WorkspaceSync#catchUp} does. */
  public boolean isSlow() {
    return !slow.isEmpty();
  }

  /** A clause; of a slow node about "it". */
  public String why() {
    return isSlow() ? slow : FailureText.clause(failure.failure());
  }
}
