package dev.gpush.gateway.session.links;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities.AgentPipes;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.session.Holder;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkState;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.PipeSource;
import dev.gpush.link.tunnel.TunnelCertificate;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes the link to one node: the backend spawns a relay to the agent there, and the link speaks
 * through it.
 */
public final class LinkMaker {

  private final AgentProgram agent;
  private final GatewayIdentity identity;
  private final LinkTiming timing;
  private final Clock clock;
  private final SecureRandom random;
  private final Tasks tasks;

  // guarded by this
  private Optional<TunnelCertificate> certificate = Optional.empty();

  /** Reaches a node without a pipe of its own. */
  @FunctionalInterface
  interface Through {
    /** Empty: it needs a pipe of its own. Blocks; stops promptly when interrupted. */
    Optional<Pipe> open(int node) throws IOException, InterruptedException;
  }

  public LinkMaker(
      AgentProgram agent,
      GatewayIdentity identity,
      LinkTiming timing,
      Clock clock,
      SecureRandom random,
      Tasks tasks) {
    this.timing = timing;
    this.agent = agent;
    this.identity = identity;
    this.clock = clock;
    this.random = random;
    this.tasks = tasks;
  }

  /** This gateway's. */
  Holder holder() {
    return identity.holder();
  }

  Link make(
      Backend backend,
      Gang gang,
      NodeInfo node,
      LedgerEntry entry,
      Through through,
      Consumer<LinkState> listener) {
    // Agents compare the whole text, so a session keeps the one that it was made with.
    Holder holder = identity.keeps(entry) ? entry.keeper().holder() : identity.holder();
    var who =
        new LinkIdentity(
            node.index(), holder.text(), identity.incarnation(), entry.keeper().term());
    Tasks group = tasks.group(gang.id().text().substring(0, 6));
    PipeSource pipes = pipes(backend, gang, node, through);
    return new Link(who, pipes, group, clock, random, timing, listener);
  }

  /** For a gang with more nodes than its backend has pipes for. */
  Tunnels tunnels(LiveSession session) {
    return new Tunnels(session, certificate(), timing.contact().multipliedBy(2), clock, tasks);
  }

  /** One for all sessions of this process, made for the first one that needs it. */
  private synchronized TunnelCertificate certificate() {
    if (certificate.isEmpty()) {
      certificate = Optional.of(TunnelCertificate.create(random));
    }
    return certificate.orElseThrow();
  }

  private PipeSource pipes(Backend backend, Gang gang, NodeInfo node, Through through) {
    return () -> {
      Optional<AgentPipes> agents = backend.capabilities().agentPipes();
      if (agents.isPresent()) {
        Optional<Pipe> open = agents.get().openAgentPipe(gang, node.index());
        if (open.isPresent()) {
          return open.get();
        }
      }
      Optional<Pipe> tunnel = through.open(node.index());
      if (tunnel.isPresent()) {
        return tunnel.get();
      }
      List<String> interpreters = backend.interpreters(gang);
      Pipe relay =
          backend.spawn(
              gang,
              node.index(),
              agent.relayArguments(interpreters, gang.id(), node.index(), Duration.ZERO));
      if (begins(relay, () -> agent.beginRelay(relay))) {
        return relay;
      }
      // The relay found no agent: the loader searches further, and reports why there is none.
      Pipe loader = backend.spawn(gang, node.index(), agent.arguments(interpreters));
      Json.Obj header =
          Json.object("mode", "attach", "gang", gang.id().text(), "node", node.index());
      begins(
          loader,
          () -> {
            agent.begin(loader, header);
            return true;
          });
      return loader;
    };
  }

  /** Closes the pipe unless the agent answered on it. */
  private static boolean begins(Pipe pipe, Beginning beginning) throws IOException {
    boolean begun = false;
    try {
      begun = beginning.begin();
      return begun;
    } finally {
      if (!begun) {
        closeQuietly(pipe);
      }
    }
  }

  @FunctionalInterface
  private interface Beginning {
    boolean begin() throws IOException;
  }

  /** Does not hide the first failure. */
  private static void closeQuietly(Pipe pipe) {
    try {
      pipe.close();
    } catch (IOException alreadyGone) {
      // The relay ends in any case.
    }
  }
}
