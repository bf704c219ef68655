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
 * A place that can grant gangs. Seven small things; everything above the pipe is the same for all
 * of them.
 *
 * <p>All methods block, may be called from any thread, and stop promptly when interrupted (a
 * reservation under way is then rolled back, unless its {@link Waiter} leaves its place). They
 * throw {@link dev.gpush.core.failure.GpushException} with a {@code BackendFailure} or {@code
 * AgentFailure} for what a user can act on. After any exception from {@link #reserve} nothing is
 * held. Every implementation passes {@code BackendContract}.
 */
public interface Backend {
  /** The name under which the configuration knows it ("local", "hpc"). */
  String name();

  /** local, ssh, slurm, kubernetes … */
  String kind();

  /** One line for {@code gpush backends}: what is there, or why it cannot be used. */
  String describe();

  /** Side-effect free: can it ever fit, now or when, or why never. */
  Plan plan(GangRequest request);

  /**
   * All nodes or none. Idempotent: asked again with the same gang id, it gives the gang that the
   * first try got. Local and ssh never wait; a queue is waited for until interrupted.
   */
  Gang reserve(GangRequest request) throws InterruptedException;

  /**
   * As {@link #reserve(GangRequest)}; the waiter hears what the request waits for, and says whether
   * its place in a queue outlives an interrupt.
   */
  default Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    return reserve(request);
  }

  /**
   * Waits again for a gang that was asked for before, perhaps by another process, and never asks
   * for it a second time. A failure that only says that the place cannot be reached ({@code
   * ExitStatus.ENVIRONMENT}) leaves the request in the queue; after any other nothing is held.
   */
  default Gang resume(GangRequest request, Waiter waiter) throws InterruptedException {
    throw new GpushException(
        new BackendFailure.ReserveFailed(name(), "it has no queue to wait in again"));
  }

  /** Always the same. */
  Capabilities capabilities();

  /**
   * What runs already under a name that people have for it there ({@code job/train}), and can be
   * worked with as a gang whose nodes are not ours; asked for by {@link GangRequest#attach}.
   *
   * @return empty where there is no such thing as that
   */
  default Optional<Loan> lends(String name) {
    return Optional.empty();
  }

  Observation observe(Gang gang);

  /** What became of a node that others saw begin anew. */
  default Anew anew(Gang gang, int node) {
    return new Anew("", gang.nodes().get(node));
  }

  /** Sets the far side's lease afresh, counted from now. */
  void renew(Gang gang, LeaseTerms terms);

  /**
   * Lets go and waits until it is really gone; idempotent. What was not ours on the nodes is kept
   * and named.
   *
   * @return the kept paths, each with its node ({@code node 1: /path})
   * @throws dev.gpush.core.failure.GpushException with {@code NotReleased} when that cannot be
   *     confirmed within the time
   */
  List<String> release(Gang gang, Duration limit) throws InterruptedException;

  /** Everything of this owner that carries our tag. */
  List<Discovered> discover(String owner);

  /** Runs a command on a node; the way to the agent is always this. */
  Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException;

  /**
   * A pipe to the node's agent that needs no relay, or on which one has begun already; what goes
   * through it is the link from the first byte. Empty: {@link #spawn} a relay.
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
   * for them, without a pipe to each. Whoever knows it already does nothing; who does not answer is
   * not waited for.
   *
   * @param where the parameters of the agents' {@code peers}, as {@code PeerSecret} has them
   */
  default void introduce(Gang gang, Json.Obj where) {
    throw new UnsupportedOperationException(name() + " has a pipe for every node");
  }

  /**
   * The same backend, which asks the agents of one gang over these connections where they are open,
   * and in its own way where they are not.
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

  /** Lines for {@code gpush backends --explain}: which way is taken to it, and why. */
  default List<String> explain() {
    return List.of();
  }

  /**
   * The ways that may need a person, called as the nodes' hosts where nodes are reached by them;
   * {@code gpush login} opens those that are closed.
   */
  default List<Gate> gates() {
    return List.of();
  }
}
