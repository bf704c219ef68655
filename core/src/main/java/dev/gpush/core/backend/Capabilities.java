package dev.gpush.core.backend;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a backend can do besides its seven operations. What only some backends have is a small port
 * of its own: it is here, or the backend does not have it.
 */
public final class Capabilities {
  private final Set<Capability> all;
  private final Map<Class<?>, Object> ports;

  private Capabilities(Set<Capability> all, Map<Class<?>, Object> ports) {
    this.all = Set.copyOf(all);
    this.ports = Map.copyOf(ports);
  }

  public enum Capability {
    /** Options of sbatch are used. */
    NATIVES,
    /** Nodes can be made of a container image. */
    IMAGES,
    /** Volumes can be mounted into nodes. */
    VOLUMES,
    /** The disks of nodes outlive the gang, so that files that are kept there can be read later. */
    KEPT_FILES
  }

  /** A request that does not fit now may wait at the backend for its turn. */
  @FunctionalInterface
  public interface RequestQueue {
    /**
     * Waits again for a gang that was asked for before, perhaps by another process, and never asks
     * for it a second time. A failure that only says that the backend cannot be reached ({@code
     * ExitStatus.ENVIRONMENT}) leaves the request in the queue; after any other nothing is held.
     */
    Gang resume(GangRequest request, Waiter waiter) throws InterruptedException;
  }

  /** Knows the order of the requests that wait in its queue. */
  @FunctionalInterface
  public interface QueueOrder {
    /**
     * What comes before the request for this gang; empty if that is not known or it has no wait.
     */
    Optional<JobsAhead> ahead(GangId gang);
  }

  /** Lends nodes that gpush does not own. */
  @FunctionalInterface
  public interface Lending {
    /**
     * What runs already under a name of the backend ({@code job/train}) and can be used as a gang;
     * requested by {@link GangRequest#attach}.
     */
    Loan lend(String name);
  }

  /** Few nodes of a gang may have a pipe of their own for as long as a session lasts. */
  public interface PipeLimit {
    /** Of a larger gang node 0 has a pipe, and the others are reached through its agent. */
    int most();

    /**
     * Tells the agents of such a gang where node 0's agent listens for them, without a pipe to
     * each. An agent that knows it already does nothing; one that does not answer is not waited
     * for.
     *
     * @param where the parameters of the agents' {@code peers}, as {@code PeerSecret} has them
     */
    void introduce(Gang gang, Json.Obj where);
  }

  /** Pipes to agents without a command for each. */
  @FunctionalInterface
  public interface AgentPipes {
    /**
     * A pipe to the node's agent that needs no relay, or on which a relay has started already; the
     * link uses it from the first byte. Empty: {@link Backend#spawn} a relay.
     */
    Optional<Pipe> openAgentPipe(Gang gang, int node) throws IOException;
  }

  /** Agents can be asked over connections that others have opened. */
  @FunctionalInterface
  public interface AgentLinks {
    /**
     * The same backend, which asks the agents of one gang over these connections where they are
     * open, and with its own commands where they are not.
     */
    Backend withLinks(LinkedAgents agents);
  }

  /**
   * One configuration can lead to other clusters later, so where a gang is asked for is kept with
   * the request.
   */
  public interface Places {
    /** Where requests go now; a text of the backend's own. */
    String now();

    /**
     * The same backend, which looks for gangs only there. What it cannot find because it has to
     * look elsewhere, it cannot tell; it is never gone.
     */
    Backend at(String place);
  }

  /** Knows why agents were replaced. */
  @FunctionalInterface
  public interface AgentRestarts {
    AgentRestart of(Gang gang, int node);
  }

  /** Knows the lease of a gang, of which an agent that starts on another node knows the first. */
  @FunctionalInterface
  public interface LeaseRecords {
    /**
     * The lease as it is now; empty if the backend has none of this gang.
     *
     * @param idle the idle time, which only the session and the agents know
     */
    Optional<LeaseTerms> lease(Gang gang, Duration idle);
  }

  /** Connections that may need the user. */
  @FunctionalInterface
  public interface Logins {
    /**
     * Named as the hosts of the nodes that they lead to; {@code gpush login} opens those that are
     * closed.
     */
    List<Gate> gates();
  }

  /** Laptop and node are one machine. */
  @FunctionalInterface
  public interface ClientVariables {
    /** Which of the client's variables a command there takes over. */
    Map<String, String> inherited(Map<String, String> client);
  }

  public static Capabilities of(Capability... all) {
    return new Capabilities(Set.copyOf(Arrays.asList(all)), Map.of());
  }

  /** These and a port. */
  public <P> Capabilities with(Class<P> port, P implementation) {
    var more = new HashMap<>(ports);
    more.put(port, implementation);
    return new Capabilities(all, more);
  }

  public boolean takesNatives() {
    return all.contains(Capability.NATIVES);
  }

  public boolean takesImages() {
    return all.contains(Capability.IMAGES);
  }

  public boolean mountsVolumes() {
    return all.contains(Capability.VOLUMES);
  }

  public boolean keepsFiles() {
    return all.contains(Capability.KEPT_FILES);
  }

  public boolean hasQueue() {
    return queue().isPresent();
  }

  public Optional<RequestQueue> queue() {
    return port(RequestQueue.class);
  }

  public Optional<QueueOrder> queueOrder() {
    return port(QueueOrder.class);
  }

  public Optional<Lending> lending() {
    return port(Lending.class);
  }

  public Optional<PipeLimit> pipeLimit() {
    return port(PipeLimit.class);
  }

  public Optional<AgentPipes> agentPipes() {
    return port(AgentPipes.class);
  }

  public Optional<AgentLinks> agentLinks() {
    return port(AgentLinks.class);
  }

  public Optional<AgentRestarts> agentRestarts() {
    return port(AgentRestarts.class);
  }

  public Optional<LeaseRecords> leaseRecords() {
    return port(LeaseRecords.class);
  }

  /** Of its {@link Logins}; none where there is nothing to log in to. */
  public List<Gate> gates() {
    return port(Logins.class).map(Logins::gates).orElse(List.of());
  }

  public Optional<Places> places() {
    return port(Places.class);
  }

  /** By its {@link ClientVariables}; none where laptop and node are two machines. */
  public Map<String, String> inherited(Map<String, String> client) {
    return port(ClientVariables.class).map(port -> port.inherited(client)).orElse(Map.of());
  }

  private <P> Optional<P> port(Class<P> port) {
    return Optional.ofNullable(port.cast(ports.get(port)));
  }
}
