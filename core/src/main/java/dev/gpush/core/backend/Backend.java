package dev.gpush.core.backend;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Grants gangs of nodes. A backend does seven small things; everything above the pipe is the same
 * for all backends.
 *
 * <p>All methods block, may be called from any thread, and stop promptly when interrupted (a
 * reservation under way is then rolled back, unless its {@link Waiter} says to leave it in the
 * queue). They throw {@link dev.gpush.core.failure.GpushException} with a {@code BackendFailure} or
 * {@code AgentFailure} for what a user can act on. After any exception from {@link #reserve}
 * nothing is held. Every implementation passes {@code BackendContract}.
 */
public interface Backend {
  /** Its name in the configuration ("local", "hpc"). */
  String name();

  /** local, ssh, slurm, kubernetes … */
  String kind();

  /** One line for {@code gpush backends}: what is there, or why it cannot be used. */
  String describe();

  /** Whether the request can be granted now, later or never, and why. Without side effects. */
  Plan plan(GangRequest request);

  /**
   * All nodes or none. Idempotent: a second call with the same gang id returns the gang that the
   * first one got. Local and ssh never wait; a queue is waited for until interrupted.
   */
  Gang reserve(GangRequest request) throws InterruptedException;

  /**
   * As {@link #reserve(GangRequest)}; the waiter receives what the request waits for, and decides
   * whether the request stays in the queue after an interrupt.
   */
  default Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    return reserve(request);
  }

  /**
   * Waits again for a gang that was asked for before, perhaps by another process, and never asks
   * for it a second time. A failure that only says that the backend cannot be reached ({@code
   * ExitStatus.ENVIRONMENT}) leaves the request in the queue; after any other nothing is held.
   */
  default Gang resume(GangRequest request, Waiter waiter) throws InterruptedException {
    throw new GpushException(
        new BackendFailure.ReserveFailed(name(), "it has no queue to wait in again"));
  }

  /** Never changes. */
  Capabilities capabilities();

  /**
   * What runs already under a name of the backend ({@code job/train}) and can be used as a gang
   * whose nodes gpush does not own; requested by {@link GangRequest#attach}.
   *
   * @return empty when the backend cannot lend nodes
   */
  default Optional<Loan> lends(String name) {
    return Optional.empty();
  }

  Observation observe(Gang gang);

  /** Why the agent of a node was replaced, and what the node is now. */
  default AgentRestart onRestart(Gang gang, int node) {
    return new AgentRestart("", gang.nodes().get(node));
  }

  /** Sets the lease of the agents and the backend, counted from now. */
  void renew(Gang gang, LeaseTerms terms);

  /**
   * Releases the gang and waits until it is gone; idempotent. Files on the nodes that gpush did not
   * write are kept and named.
   *
   * @return the kept paths, each with its node ({@code node 1: /path})
   * @throws dev.gpush.core.failure.GpushException with {@code NotReleased} when that cannot be
   *     confirmed within the time
   */
  List<String> release(Gang gang, Duration limit) throws InterruptedException;

  /** All gangs of this owner that have gpush's tag. */
  List<Discovered> discover(String owner);

  /** Runs a command on a node; every connection to an agent is made with it. */
  Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException;

  /**
   * A pipe to the node's agent that needs no relay, or on which a relay has started already; the
   * link uses it from the first byte. Empty: {@link #spawn} a relay.
   */
  default Optional<Pipe> straight(Gang gang, int node) throws IOException {
    return Optional.empty();
  }

  /**
   * How many nodes of a gang may have a pipe of their own for as long as a session lasts. Of a
   * larger gang node 0 has one, and the others are reached through its agent.
   */
  default int mostPipes() {
    return Integer.MAX_VALUE;
  }

  /**
   * Tells the agents of a gang that is larger than {@link #mostPipes} where node 0's agent listens
   * for them, without a pipe to each. An agent that knows it already does nothing; one that does
   * not answer is not waited for.
   *
   * @param where the parameters of the agents' {@code peers}, as {@code PeerSecret} has them
   */
  default void introduce(Gang gang, Json.Obj where) {
    throw new UnsupportedOperationException(name() + " has a pipe for every node");
  }

  /**
   * The same backend, which asks the agents of one gang over these connections where they are open,
   * and with its own commands where they are not.
   */
  default Backend asking(LinkedAgents agents) {
    return this;
  }

  /**
   * Which of the client's variables a command there takes over: none, unless laptop and node are
   * one machine.
   */
  default Map<String, String> inherited(Map<String, String> clientEnvironment) {
    return Map.of();
  }

  /** The Pythons to try for the agent on this gang's nodes, as {@code AgentProgram} has them. */
  default List<String> interpreters(Gang gang) {
    return List.of("python3", "python");
  }

  /** Lines for {@code gpush backends --explain}: how it is reached, and why. */
  default List<String> explain() {
    return List.of();
  }

  /**
   * The logins that may need the user, named as the hosts of the nodes that they lead to; {@code
   * gpush login} opens those that are closed.
   */
  default List<Gate> gates() {
    return List.of();
  }
}
