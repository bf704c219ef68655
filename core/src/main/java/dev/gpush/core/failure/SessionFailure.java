package dev.gpush.core.failure;

import java.util.List;

/** A session cannot do what was asked. */
public sealed interface SessionFailure extends Failure {
  /** One line of the difference between what a session has and what was asked. */
  record Difference(String what, String has, String asked) {}

  /** {@code up} asked for something else than this session is. */
  record Differs(String session, List<Difference> differences) implements SessionFailure {
    public Differs {
      differences = List.copyOf(differences);
    }
  }

  /** The gang no longer exists; the session was ended because of it. */
  record Gone(String session, String reason) implements SessionFailure {}

  /**
   * Some nodes of the gang are gone for good; runs on the others continue.
   *
   * @param nodes "node 1", "nodes 1, 3"
   */
  record NodesLost(String session, String nodes, int of, String reason) implements SessionFailure {}

  /** Another command is using this session. */
  record Busy(String session, String doing) implements SessionFailure {}

  /** Node numbers start at 0. */
  record UnknownNode(String session, int node, int nodes) implements SessionFailure {}

  /** A port of this machine that forwards to a node cannot be listened on. */
  record PortTaken(int port) implements SessionFailure {}

  /** A node's link is not up; what was asked needs it. */
  record NotReached(String session, int node, String state) implements SessionFailure {}

  /**
   * It has no nodes yet, and what was asked needs them.
   *
   * @param words its place and the reason, as far as they are known
   */
  record Queued(String session, String words) implements SessionFailure {}

  /** Another command cancelled its request while this one waited for it. */
  record GivenUp(String session) implements SessionFailure {}

  /** A command that ends the session has ended the push of this one. */
  record PushStopped(String session) implements SessionFailure {}

  /** The lease cannot be moved there. */
  record CannotExtend(String session, String reason, String remedy) implements SessionFailure {}

  /**
   * Another home of the same owner has it, and may still be using it.
   *
   * @param isNamed the user has named it
   */
  record HeldElsewhere(String session, String holder, boolean isNamed) implements SessionFailure {}

  /** A gang that is not a session of this home cannot become one. */
  record CannotAdopt(String session, String reason) implements SessionFailure {}

  /** Released as far as we could; this could not be confirmed. */
  record Leaked(String session, String backend, String what) implements SessionFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.FAILED;
  }
}
