package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Collects the answers of agents while the pods of a gang start. Each pod gets one command as soon
 * as it runs; an agent that has answered is asked again only so that it does not end as unclaimed
 * while another one is late. For one thread.
 */
public final class AgentArrivals implements AutoCloseable {
  private static final AgentAnswer STARTING = new AgentAnswer.Silent("it is starting");

  /** Well before an agent that no gateway asks ends. */
  private static final Duration AGAIN = LeaseTerms.UNCLAIMED.dividedBy(2);

  private final Greeting greeting;
  private final Clock clock;
  private final Tasks tasks;

  /** By pod and container. */
  private final Map<String, Task<AgentAnswer, RuntimeException>> asked = new HashMap<>();

  private final Map<String, AgentAnswer> answered = new HashMap<>();

  /** When each was asked last. */
  private final Map<String, Long> times = new HashMap<>();

  /** Asks the agent of one pod, which may be starting, and keeps the pipe for its link. */
  @FunctionalInterface
  interface Greeting {
    AgentAnswer ask(int node, Json pod) throws InterruptedException;
  }

  AgentArrivals(Greeting greeting, Clock clock, Tasks tasks) {
    this.greeting = greeting;
    this.clock = clock;
    this.tasks = tasks;
  }

  public static AgentArrivals of(GangId gang, PodAgents agents, Clock clock, Tasks tasks) {
    return new AgentArrivals((node, pod) -> agents.greet(gang, node, pod), clock, tasks);
  }

  /** Asks the agents of running pods that were not asked yet, or not for long. */
  public void greet(Pods pods) throws InterruptedException {
    long now = clock.nanos();
    await(pods, Duration.ZERO);
    Map<Integer, Json> byNode = pods.byNode();
    Set<String> there =
        byNode.values().stream().map(AgentArrivals::key).collect(Collectors.toSet());
    asked.entrySet().removeIf(each -> !there.contains(each.getKey()) && cancel(each.getValue()));
    answered.keySet().retainAll(there);
    times.keySet().retainAll(there);
    byNode.forEach(
        (node, pod) -> {
          String key = key(pod);
          boolean isAnswered =
              answered.get(key) instanceof AgentAnswer.Said
                  && now - times.getOrDefault(key, now) < AGAIN.toNanos();
          if (Pods.isRunning(pod) && !isAnswered && !asked.containsKey(key)) {
            times.put(key, now);
            asked.put(key, tasks.fork("greet-agent-" + node, () -> greeting.ask(node, pod)));
          }
        });
  }

  /** A container that restarted in its pod has another agent, too. */
  private static String key(Json pod) {
    return Pods.name(pod) + " " + Pods.container(pod).number("restartCount").orElse(0L);
  }

  /** Waits until all that were asked have answered, up to the limit; returns the answers so far. */
  public Map<Integer, AgentAnswer> await(Pods pods, Duration limit) throws InterruptedException {
    long end = clock.nanos() + limit.toNanos();
    for (var each : List.copyOf(asked.entrySet())) {
      settle(each.getKey(), each.getValue(), end);
    }
    var byNode = new TreeMap<Integer, AgentAnswer>();
    pods.byNode()
        .forEach((node, pod) -> byNode.put(node, answered.getOrDefault(key(pod), STARTING)));
    return byNode;
  }

  private void settle(String key, Task<AgentAnswer, RuntimeException> answer, long end)
      throws InterruptedException {
    try {
      answered.put(key, answer.get(Duration.ofNanos(end - clock.nanos())));
      asked.remove(key);
    } catch (TimeoutException stillStarting) {
      // Its question stays open.
    }
  }

  private static boolean cancel(Task<AgentAnswer, RuntimeException> answer) {
    answer.cancel();
    return true;
  }

  /** Cancels open questions. */
  @Override
  public void close() {
    asked.values().forEach(AgentArrivals::cancel);
  }
}
