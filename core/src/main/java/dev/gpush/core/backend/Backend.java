package dev.gpush.core.backend;

import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Grants gangs of nodes. A backend has seven operations, all required: plan, reserve, observe,
 * renew, release, discover and spawn. The other methods only describe it; what not every backend
 * can do is a port of its {@link #capabilities}. Everything above the pipe is the same for all
 * backends.
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

  /** Lines for {@code gpush backends --explain}: how it is reached, and why. */
  default List<String> explain() {
    return List.of();
  }

  /** Never changes. */
  Capabilities capabilities();

  /** The Pythons to try for the agent on this gang's nodes, as {@code AgentProgram} has them. */
  default List<String> interpreters(Gang gang) {
    return AgentProgram.INTERPRETERS;
  }

  /** Whether the request can be granted now, later or never, and why. Without side effects. */
  Plan plan(GangRequest request);

  /**
   * All nodes or none. Idempotent: a second call with the same gang id returns the gang that the
   * first one got. Local and ssh never wait; a queue is waited for until interrupted.
   *
   * @param waiter receives what the request waits for, and decides whether it stays in the queue
   *     after an interrupt
   */
  Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException;

  /** The same for a caller that does not ask what the request waits for. */
  default Gang reserve(GangRequest request) throws InterruptedException {
    return reserve(request, _ -> {});
  }

  Observation observe(Gang gang);

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
}
