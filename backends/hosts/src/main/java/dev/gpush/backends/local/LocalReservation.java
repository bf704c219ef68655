package dev.gpush.backends.local;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.GangRelease;
import dev.gpush.backends.hosts.HostGangs;
import dev.gpush.core.agent.PeerSecret;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * One reservation: all nodes or none.
 *
 * <p>Nodes with GPUs start one after the other, each taking its locks without waiting. When
 * somebody was faster the node looks again and takes others; it gives up only when too few are left
 * for the whole gang. Starting them all at once was tried on paper: two gangs that each want most
 * of the machine then take from each other and both fail. An interruption is heeded between two
 * starts: an agent that comes up after the rollback would stay.
 */
final class LocalReservation {
  /** Somebody may take a GPU between the look and the grab; after so many times we are unlucky. */
  private static final int TRIES = 8;

  /** CPU nodes that start at the same time: each start is a Python process. */
  private static final int AT_ONCE = 8;

  private static final Duration ROLLBACK_LIMIT = Duration.ofSeconds(30);

  private final String name;
  private final LocalHost host;
  private final LocalAgents agents;
  private final GpuInventory inventory;
  private final HostLocks locks;
  private final GangRelease release;
  private final Tasks tasks;
  private final GangRequest request;
  private final PeerSecret secret;

  LocalReservation(
      String name,
      LocalHost host,
      LocalAgents agents,
      GpuInventory inventory,
      HostLocks locks,
      GangRelease release,
      Tasks tasks,
      GangRequest request) {
    this.name = name;
    this.host = host;
    this.agents = agents;
    this.inventory = inventory;
    this.locks = locks;
    this.release = release;
    this.tasks = tasks;
    this.request = request;
    this.secret = PeerSecret.random(host.random());
  }

  Gang take(Supplier<Plan> plan) throws InterruptedException {
    boolean done = false;
    var nodes = new ArrayList<NodeInfo>();
    try {
      Map<Integer, Json> running = agents.of(request.gang());
      running.values().forEach(status -> nodes.add(AgentCalls.info(status)));
      if (running.isEmpty()) {
        requireRoom(plan.get());
      }
      if (nodes.size() < request.nodes()) {
        shareSecret(nodes);
        if (request.gpus().isNone()) {
          startCpuNodes(nodes);
        } else {
          startGpuNodes(nodes);
        }
      }
      done = true;
      return new Gang(request.gang(), name, nodes, "");
    } catch (IOException failed) {
      throw new GpushException(
          new BackendFailure.ReserveFailed(name, String.valueOf(failed.getMessage())), failed);
    } finally {
      if (!done) {
        release.rollBack(new Gang(request.gang(), name, nodes, ""), ROLLBACK_LIMIT);
      }
    }
  }

  /** With what an earlier try has left: they know another secret, and who comes now only ours. */
  private void shareSecret(List<NodeInfo> running) throws InterruptedException {
    for (NodeInfo node : running) {
      agents.control(request.gang(), node, secret.onSameHost().with("do", "peers"));
    }
  }

  private void requireRoom(Plan plan) {
    if (!(plan instanceof Plan.Now)) {
      throw HostGangs.refusal(name, plan);
    }
  }

  private void startCpuNodes(List<NodeInfo> nodes) throws IOException, InterruptedException {
    List<NodeInfo> missing = new ArrayList<>();
    for (int index = 0; index < request.nodes(); index++) {
      int node = index;
      if (nodes.stream().noneMatch(has -> has.index() == node)) {
        missing.add(node(node, List.of()));
      }
    }
    for (int from = 0; from < missing.size(); from += AT_ONCE) {
      List<NodeInfo> some = missing.subList(from, Math.min(from + AT_ONCE, missing.size()));
      // Before they start: what fails half-way must be rolled back too.
      nodes.addAll(some);
      finish(
          some.stream()
              .<Work<Boolean, IOException>>map(node -> () -> started(node, List.of()))
              .toList());
    }
    nodes.sort((a, b) -> Integer.compare(a.index(), b.index()));
  }

  private void startGpuNodes(List<NodeInfo> nodes) throws IOException, InterruptedException {
    Map<String, String> environment = agents.environment(request.inherit());
    List<Gpu> all = LocalBackend.matching(inventory.stock(environment).gpus(), request);
    for (int index = 0; index < request.nodes(); index++) {
      int node = index;
      if (nodes.stream().noneMatch(has -> has.index() == node)) {
        startGpuNode(node, all, nodes, environment);
      }
    }
    nodes.sort((a, b) -> Integer.compare(a.index(), b.index()));
  }

  private void startGpuNode(
      int index, List<Gpu> all, List<NodeInfo> nodes, Map<String, String> environment)
      throws IOException, InterruptedException {
    int count = request.gpus().count();
    int missing = request.nodes() - nodes.size();
    List<String> holders = List.of();
    for (int attempt = 0; attempt < TRIES; attempt++) {
      Map<String, HostLocks.Holder> held = locks.holders(all, environment);
      holders = held.values().stream().map(HostLocks.Holder::words).distinct().toList();
      List<Gpu> free = all.stream().filter(gpu -> !held.containsKey(gpu.identity())).toList();
      if (free.size() < missing * count) {
        break;
      }
      List<Gpu> share = free.subList(0, count);
      NodeInfo info = node(index, share);
      // Before it starts: what fails half-way must be rolled back too.
      nodes.add(info);
      try {
        finish(List.of(() -> started(info, share)));
        return;
      } catch (GpushException failed) {
        if (!(failed.failure() instanceof AgentFailure.Held)) {
          throw failed;
        }
        nodes.remove(info);
      }
    }
    throw new GpushException(
        new BackendFailure.Taken(name, "somebody else was faster with these GPUs", holders));
  }

  private boolean started(NodeInfo info, List<Gpu> gpus) throws IOException {
    agents.start(
        request,
        info,
        gpus.stream().map(gpu -> new LocalAgents.Lock(locks.file(gpu), gpu)).toList(),
        secret);
    return true;
  }

  /** Waits until every start has ended, well or badly; only then is an interruption told. */
  private void finish(List<Work<Boolean, IOException>> starts)
      throws IOException, InterruptedException {
    tasks.finishAll("start", starts);
  }

  private NodeInfo node(int index, List<Gpu> gpus) {
    Path workspace =
        host.home()
            .resolve("nodes")
            .resolve(request.gang().text())
            .resolve(Integer.toString(index))
            .resolve(request.project());
    return new NodeInfo(
        index,
        host.name(),
        "127.0.0.1",
        gpus.isEmpty() ? List.of("0") : gpus.stream().map(Gpu::index).toList(),
        gpus.isEmpty() ? "" : gpus.getFirst().model(),
        host.cpus(),
        workspace.toString());
  }
}
