package dev.gpush.gateway.session.links;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import dev.gpush.link.tunnel.NodeTunnel;
import dev.gpush.link.tunnel.TunnelCertificate;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The tunnels of one session whose gang has more nodes than its backend has pipes for: all nodes
 * but node 0 are reached through node 0's link, or by a pipe of their own where {@link
 * TunnelPolicy} says so.
 */
final class Tunnels implements LinkMaker.Through {
  private static final System.Logger LOG = System.getLogger("gpush.tunnels");

  /** No event signals that a limit has passed, or that a node is lost. */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LiveSession session;
  private final TunnelCertificate certificate;
  private final Clock clock;
  private final Tasks tasks;

  /** Held while agents learn where node 0 is, so that it is done once. */
  private final ReentrantLock introducing = new ReentrantLock();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final TunnelPolicy policy;

  private volatile boolean isIntroduced;

  /**
   * @param patience how long node 0 may be out of reach before others are tried without it
   */
  Tunnels(
      LiveSession session,
      TunnelCertificate certificate,
      Duration patience,
      Clock clock,
      Tasks tasks) {
    this.session = session;
    this.certificate = certificate;
    this.clock = clock;
    this.tasks = tasks;
    List<Integer> nodes = session.gang().nodes().stream().map(NodeInfo::index).toList();
    this.policy = new TunnelPolicy(nodes, patience, clock.nanos());
  }

  @Override
  public Optional<Pipe> open(int node) throws IOException, InterruptedException {
    if (node == 0 || !awaitNodeZero(node)) {
      return Optional.empty();
    }
    try {
      introduce();
      return Optional.of(
          NodeTunnel.open(session.link(0), node, session.links().size(), certificate));
    } catch (GpushException failed) {
      switch (failed.failure()) {
        case AgentFailure.Refused(_, var code, _) -> refuse(node, code);
        case AgentFailure.LinkOver(_, var reason) -> throw new IOException(reason, failed);
        default -> throw failed;
      }
      return Optional.empty();
    }
  }

  /** False when the node must have its own pipe. */
  private boolean awaitNodeZero(int node) throws InterruptedException {
    while (true) {
      boolean isLost = session.isLost(0);
      lock.lockInterruptibly();
      try {
        switch (policy.choose(node, isLost, clock.nanos())) {
          case TUNNEL -> {
            return true;
          }
          case DIRECT -> {
            return false;
          }
          case WAIT -> changed.awaitNanos(Math.min(policy.patience().toNanos(), LOOK_NANOS));
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** Called on the link's own thread. */
  void changed(int node, LinkState state) {
    List<Integer> returning;
    lock.lock();
    try {
      returning = policy.changed(node, state instanceof LinkState.Up, clock.nanos());
      if (node == 0 && state instanceof LinkState.Up(_, var resumed) && !resumed) {
        isIntroduced = false;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    returning.forEach(this::renew);
  }

  private void renew(int node) {
    // Does nothing in a gateway that ends: the next one makes its own tunnels.
    tasks.start("tunnel-again", () -> session.link(node).renewPipe());
  }

  private void refuse(int node, String code) {
    lock.lock();
    try {
      policy.refuse(node, code, clock.nanos());
    } finally {
      lock.unlock();
    }
    LOG.log(System.Logger.Level.INFO, "no tunnel, node={0} code={1}", node, code);
  }

  /** Sentences for the user about nodes that have their own pipes. */
  List<String> sentences() {
    Map<Integer, String> refused;
    lock.lock();
    try {
      refused = policy.refused();
    } finally {
      lock.unlock();
    }
    var nodes = new TreeMap<String, List<Integer>>();
    for (var each : new TreeMap<>(refused).entrySet()) {
      nodes.computeIfAbsent(reason(each.getValue()), _ -> new ArrayList<>()).add(each.getKey());
    }
    return nodes.entrySet().stream()
        .map(each -> sentence(new Observation.Partly(each.getValue(), ""), each.getKey()))
        .toList();
  }

  private String sentence(Observation.Partly those, String reason) {
    return those.nodes()
        + " cannot be reached through node 0 ("
        + reason
        + "); each uses its own process on the login node of "
        + session.backend().name();
  }

  private static String reason(String code) {
    return switch (code) {
      case "no-line", "timeout", "unreachable" -> "no connection to node 0's port";
      case "no-tls" -> "Python without ssl";
      default -> code;
    };
  }

  // ---- telling the agents where node 0 is

  /** Tells all nodes that have no line to node 0 yet, in one step. */
  private void introduce() throws InterruptedException {
    introducing.lockInterruptibly();
    try {
      if (!isIntroduced) {
        tellAll(session.link(0));
        isIntroduced = true;
      }
    } catch (GpushException silent) {
      if (silent.failure() instanceof AgentFailure.LinkOver) {
        throw silent;
      }
      // Node 0 refuses tunnels to nodes without a line; the next pipe tries again.
      LOG.log(System.Logger.Level.INFO, "agents were not told of node 0", silent);
    } finally {
      introducing.unlock();
    }
  }

  private void tellAll(Link first) throws InterruptedException {
    Json peers = first.call("status", Json.object()).object("peers");
    // Without a port all nodes are on one host, where the agents find each other.
    Optional<Integer> port = peers.integer("port");
    if (port.isPresent() && isAnyMissing(peers)) {
      String address = session.gang().nodes().getFirst().address();
      Json.Obj where = PeerSecret.nodeZero(address, port.get());
      session
          .backend()
          .capabilities()
          .pipeLimit()
          .ifPresent(limit -> limit.introduce(session.gang(), where));
    }
  }

  private boolean isAnyMissing(Json peers) {
    List<Json> there = peers.items("nodes");
    return session.gang().nodes().stream()
        .map(NodeInfo::index)
        .anyMatch(node -> node != 0 && !session.isLost(node) && !there.contains(Json.of(node)));
  }
}
