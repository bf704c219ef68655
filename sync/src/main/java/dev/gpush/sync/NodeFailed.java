package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;

/** A push without a user failed on one node; the others can do without it. */
public final class NodeFailed extends Exception {
  private static final long serialVersionUID = 1;

  private final int node;
  private final transient GpushException failure;

  NodeFailed(int node, GpushException failure) {
    super(failure);
    this.node = node;
    this.failure = failure;
  }

  public int node() {
    return node;
  }

  public GpushException failure() {
    return failure;
  }
}
