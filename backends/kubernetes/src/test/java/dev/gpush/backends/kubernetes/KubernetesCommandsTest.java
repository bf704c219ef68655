package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.api.KubeApi;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkState;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.Ended;
import dev.gpush.testkit.rig.KubernetesRig;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * How many commands are run in pods, counted at the API server: one in each for {@code up}, and
 * none for a question to an agent that is linked.
 */
@ResourceLock(KubernetesRig.GANGS)
@Tag("kubernetes")
final class KubernetesCommandsTest {
  private static final Json.Obj NONE = Json.object();

  /**
   * A gang of two with its links, as a gateway has it.
   *
   * @param attempts how often a link was begun: again if a pod did not answer in time
   */
  private record Linked(
      KubernetesPlace place,
      CountingServer server,
      Gang gang,
      List<Link> links,
      AtomicInteger attempts,
      Tasks tasks)
      implements AutoCloseable {
    static Linked open() throws Exception {
      KubernetesPlace place = KubernetesPlace.of("gangs");
      var server = new CountingServer(new KubeApi(place.access(), Map.of()));
      Backend backend = place.over(server);
      Tasks tasks = Tasks.named("links", (_, _) -> {});
      var agent = new AgentImage(tasks, new Random());
      Gang gang = backend.reserve(place.request(2, BackendContract.LONG));
      var links = new ArrayList<Link>();
      var attempts = new AtomicInteger();
      for (NodeInfo node : gang.nodes()) {
        links.add(
            new Link(
                new LinkIdentity(node.index(), "ann@laptop", "ab".repeat(16), 1),
                () -> {
                  attempts.incrementAndGet();
                  return pipe(backend, agent, gang, node.index());
                },
                tasks,
                Clock.system(),
                new Random(),
                LinkTiming.usual(),
                _ -> {}));
      }
      for (Link link : links) {
        link.connect();
      }
      return new Linked(place, server, gang, List.copyOf(links), attempts, tasks);
    }

    private static Pipe pipe(Backend backend, AgentProgram agent, Gang gang, int node)
        throws IOException {
      Optional<Pipe> waiting =
          backend.capabilities().agentPipes().orElseThrow().openAgentPipe(gang, node);
      if (waiting.isPresent()) {
        return waiting.get();
      }
      List<String> relay =
          agent.relayArguments(backend.interpreters(gang), gang.id(), node, Duration.ZERO);
      Pipe pipe = backend.spawn(gang, node, relay);
      if (!agent.beginRelay(pipe)) {
        pipe.close();
        throw new IOException("no agent");
      }
      return pipe;
    }

    Backend backend() {
      return place.over(server).capabilities().agentLinks().orElseThrow().withLinks(agents());
    }

    /** What the gateway has for it, without its limits. */
    LinkedAgents agents() {
      return (of, nodes, control, _) -> {
        var said = new HashMap<Integer, Json>();
        for (Link link : links) {
          if (of.equals(gang.id())
              && nodes.contains(link.node())
              && link.state() instanceof LinkState.Up) {
            said.put(link.node(), link.call(control.text("do").orElseThrow(), control));
          }
        }
        return said;
      };
    }

    Json status(int node) throws InterruptedException {
      return links.get(node).call("status", NONE);
    }

    @Override
    public void close() throws IOException {
      links.forEach(Link::close);
      tasks.close();
      place.close();
    }
  }

  @Test
  void oneCommandInEachPodBringsALinkUp() throws Exception {
    try (Linked linked = Linked.open()) {
      List<String> commands = linked.server().taken("EXEC");

      assertEquals(linked.attempts().get(), commands.size(), commands::toString);
      assertEquals(2, Set.copyOf(commands).size(), commands::toString);
      for (NodeInfo node : linked.gang().nodes()) {
        assertEquals((long) node.index(), linked.status(node.index()).number("node").orElseThrow());
      }
      // The Pythons of the agent and of its relay, and no other: what came from outside.
      String outside =
          "grep -l '^PPid:.0$' /proc/[0-9]*/status | sed 's/status$/comm/' | xargs cat";
      Ended seen =
          Ended.of(
              linked.backend().spawn(linked.gang(), 1, List.of("sh", "-c", outside)), new byte[0]);
      assertEquals(
          2, seen.output().lines().filter(name -> name.startsWith("python")).count(), seen::output);
      linked.backend().release(linked.gang(), BackendContract.LIMIT);
    }
  }

  @Test
  void questionsToLinkedAgentsRunNothingInPods() throws Exception {
    try (Linked linked = Linked.open()) {
      linked.server().taken("");
      Gang gang = linked.gang();
      Backend backend = linked.backend();

      backend.renew(gang, BackendContract.LONG);
      assertInstanceOf(Observation.Exists.class, backend.observe(gang));
      assertEquals(
          gang.nodes().get(1),
          backend.capabilities().agentRestarts().orElseThrow().of(gang, 1).now());

      List<String> asked = List.copyOf(linked.server().questions());
      assertEquals(List.of(), linked.server().taken("EXEC"));
      assertEquals(
          asked.stream().filter(each -> each.startsWith("GET /apis/batch")).count(),
          3,
          asked::toString);
      long left = linked.status(1).number("idle_left_s").orElse(0L);
      assertTrue(left > 3000, () -> "renewed: " + left);

      String file = gang.nodes().get(1).workspace() + "/mine.txt";
      List<String> write =
          List.of("sh", "-c", "mkdir -p \"${1%/*}\" && echo x >\"$1\"", "sh", file);
      assertEquals(0, Ended.of(backend.spawn(gang, 1, write), new byte[0]).status());
      linked.server().taken("");
      List<String> kept = backend.release(gang, BackendContract.LIMIT);

      assertEquals(List.of("node 1: " + file), kept);
      assertEquals(List.of(), linked.server().taken("EXEC"));
      assertInstanceOf(Observation.Gone.class, backend.observe(gang));
      assertEquals(List.of(), linked.place().leftovers());
    }
  }

  /** An agent whose link is not up is asked by a command, and only that one. */
  @Test
  void whoIsNotLinkedIsAskedInItsPod() throws Exception {
    try (Linked linked = Linked.open()) {
      Gang gang = linked.gang();
      linked.links().get(0).close();
      linked.server().taken("");

      linked.backend().renew(gang, BackendContract.LONG);

      assertEquals(1, linked.server().taken("EXEC").size());
      Backend other = linked.place().over(linked.server());
      other.renew(gang, BackendContract.LONG);
      assertEquals(2, linked.server().taken("EXEC").size());
      assertEquals(
          Optional.of(gang),
          other
              .discover(linked.place().request(1, BackendContract.LONG).requester().owner())
              .stream()
              .map(found -> found.gang())
              .findFirst());
      other.release(gang, BackendContract.LIMIT);
      assertEquals(new HashSet<>(), new HashSet<>(linked.place().leftovers()));
    }
  }

  @Test
  void aServerWhoseWebhooksAreNotReadyYetIsAskedAgain() throws Exception {
    try (KubernetesPlace place = KubernetesPlace.of("gangs")) {
      var server = new CountingServer(new KubeApi(place.access(), Map.of()));
      server.failures().set(5);
      Backend backend = place.over(server);

      Gang gang = backend.reserve(place.request(1, BackendContract.LONG));

      assertEquals(0, server.failures().get());
      backend.release(gang, BackendContract.LIMIT);
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Asked for again, and never linked: the pipes that waited for that are closed with the gang. */
  @Test
  void pipesThatNobodyTookEndWithTheGang() throws Exception {
    try (KubernetesPlace place = KubernetesPlace.of("gangs")) {
      var server = new CountingServer(new KubeApi(place.access(), Map.of()));
      Backend backend = place.over(server);
      var request = place.request(1, BackendContract.LONG);
      Gang gang = backend.reserve(request);
      assertEquals(gang, backend.reserve(request));
      Map<String, Integer> commands = new HashMap<>();
      server.taken("EXEC").forEach(each -> commands.merge(each, 1, Integer::sum));
      assertEquals(List.of(2), List.copyOf(commands.values()));

      backend.release(gang, BackendContract.LIMIT);

      assertEquals(Optional.empty(), agentPipe(backend, gang));
      assertEquals(List.of(), place.leftovers());
    }
  }

  private static Optional<Pipe> agentPipe(Backend backend, Gang gang) {
    try {
      return backend.capabilities().agentPipes().orElseThrow().openAgentPipe(gang, 0);
    } catch (IOException noPod) {
      return Optional.empty();
    }
  }
}
