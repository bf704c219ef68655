package dev.gpush.sync;

import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.sync.node.NodeLost;

/** A push without a user failed on one node; the others can do without it. */
public final class NodeFailed extends Exception {
  private static final long serialVersionUID = 1;

  private final int node;
  private final transient GpushException failure;
  private final String slow;

  NodeFailed(int node, GpushException failure) {
    super(failure);
    this.node = node;
    this.failure = failure;
    this.slow = "";
  }

  NodeFailed(NodeLost lost) {
    super(lost);
    this.node = lost.node();
    this.failure = lost.failure();
    this.slow = lost.slow();
  }

  public int node() {
    return node;
  }

  public GpushException failure() {
    return failure;
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
