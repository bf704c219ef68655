package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.objects.PythonInitContainer;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Asks the agents of a gang's pods, all at once: over open links, and with a command in each pod
 * without one.
 */
public final class PodAgents {
  /**
   * How many connections are opened at once to the API server, which all users of the cluster
   * share.
   */
  private static final int AT_ONCE = 32;

  /** For an agent that is starting; a restart of the pod ends the command sooner. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** For an agent that runs, and need not wait. */
  private static final Duration STATUS_LIMIT = Duration.ofSeconds(30);

  /** The same for a pipe that may be broken, beside which another can be opened. */
  private static final Duration FRESH_LIMIT = Duration.ofSeconds(5);

  private final Namespace place;
  private final AgentProgram agent;
  private final LinkedAgents linked;
  private final WaitingPipes pipes;
  private final Tasks tasks;
  private final Semaphore turns;

  public PodAgents(Namespace place, AgentProgram agent, WaitingPipes pipes, Tasks tasks) {
    this(place, agent, LinkedAgents.NONE, pipes, tasks, new Semaphore(AT_ONCE));
  }

  private PodAgents(
      Namespace place,
      AgentProgram agent,
      LinkedAgents linked,
      WaitingPipes pipes,
      Tasks tasks,
      Semaphore turns) {
    this.place = place;
    this.agent = agent;
    this.linked = linked;
    this.pipes = pipes;
    this.tasks = tasks;
    this.turns = turns;
  }

  /** The same, which asks these agents first. */
  public PodAgents withLinks(LinkedAgents agents) {
    return new PodAgents(place, agent, agents, pipes, tasks, turns);
  }

  /** Looks up the pods of some nodes; only if an agent cannot be asked over its link. */
  @FunctionalInterface
  public interface PodsOfNodes {
    Map<Integer, Json> of(Collection<Integer> nodes) throws InterruptedException, Unanswered;
  }

  /**
   * Asks the agent of every node.
   *
   * @param control the question, as docs/technical/link.md section 1 has it
   * @return an answer for every node that is linked or has a pod
   */
  public Map<Integer, AgentAnswer> ask(
      GangId gang, Collection<Integer> nodes, PodsOfNodes pods, Json.Obj control, Duration limit)
      throws InterruptedException, Unanswered {
    return AgentAnswer.<Unanswered>ask(
        linked, gang, nodes, control, limit, left -> inPods(gang, pods.of(left), control, limit));
  }

  /** With a command in each of these pods, by the number of the node. */
  public Map<Integer, AgentAnswer> inPods(
      GangId gang, Map<Integer, Json> pods, Json.Obj control, Duration limit)
      throws InterruptedException {
    return all(
        pods,
        node -> header("control", gang, node, control),
        pod -> agent.arguments(PythonInitContainer.interpreters(pod)),
        limit);
  }

  /** Starts an agent beside what runs in each pod, or finds the existing one. */
  Map<Integer, AgentAnswer> start(
      GangId gang, Map<Integer, Json> pods, Map<Integer, Json.Obj> starts, Duration limit)
      throws InterruptedException {
    return all(
        pods,
        node -> header("start", gang, node, starts.getOrDefault(node, Json.object())),
        pod -> agent.arguments(PythonInitContainer.interpreters(pod)),
        limit);
  }

  /**
   * Waits for the agent of a pod that is starting, and keeps the pipe on which it has answered for
   * the link.
   */
  AgentAnswer greet(GangId gang, int node, Json pod) throws InterruptedException {
    try {
      List<String> arguments =
          agent.relayArguments(PythonInitContainer.interpreters(pod), gang, node, PATIENCE);
      Pipe pipe = opened(pod, arguments);
      boolean isKept = false;
      try {
        if (!agent.beginRelay(pipe, PATIENCE)) {
          return new AgentAnswer.NoAgent();
        }
        Json status = agent.status(pipe, STATUS_LIMIT);
        pipes.put(gang, node, pipe);
        isKept = true;
        return new AgentAnswer.Said(status);
      } finally {
        if (!isKept) {
          pipe.close();
        }
      }
    } catch (IOException broken) {
      return unanswered(broken);
    } catch (GpushException known) {
      return unanswered(known);
    }
  }

  /** The pipe on which the agent of a node has answered, if it still does. */
  public Optional<Pipe> waiting(GangId gang, int node) {
    return pipes
        .take(gang, node)
        .filter(kept -> kept.isFresh() || answers(kept.pipe()))
        .map(WaitingPipes.Waiting::pipe);
  }

  private boolean answers(Pipe pipe) {
    try {
      agent.status(pipe, FRESH_LIMIT);
      return true;
    } catch (IOException | GpushException broken) {
      return false;
    }
  }

  private Pipe opened(Json pod, List<String> arguments) throws IOException, InterruptedException {
    turns.acquire();
    try {
      return place
          .api()
          .exec(place.namespace(), Pods.name(pod), AttachedPods.container(pod), arguments);
    } finally {
      turns.release();
    }
  }

  private static Json.Obj header(String mode, GangId gang, int node, Json.Obj what) {
    return Json.object("mode", mode, "gang", gang.text(), "node", node, mode, what);
  }

  private Map<Integer, AgentAnswer> all(
      Map<Integer, Json> pods,
      IntFunction<Json.Obj> header,
      Function<Json, List<String>> command,
      Duration limit)
      throws InterruptedException {
    var answers = new TreeMap<Integer, AgentAnswer>();
    try (Tasks asking = tasks.group("ask-agents")) {
      var asked = new TreeMap<Integer, Task<AgentAnswer, IOException>>();
      pods.forEach(
          (node, pod) ->
              asked.put(
                  node,
                  asking.fork(
                      "node-" + node, () -> ask(pod, header.apply(node), command.apply(pod)))));
      long end = place.time().nanos() + limit.toNanos();
      for (var each : asked.entrySet()) {
        answers.put(each.getKey(), awaited(each.getValue(), end, limit));
      }
    }
    return answers;
  }

  private AgentAnswer awaited(Task<AgentAnswer, IOException> answer, long end, Duration limit)
      throws InterruptedException {
    try {
      return answer.get(Duration.ofNanos(end - place.time().nanos()));
    } catch (TimeoutException late) {
      return new AgentAnswer.Silent("no answer for " + DurationText.of(limit));
    } catch (IOException broken) {
      return unanswered(broken);
    } catch (GpushException known) {
      return unanswered(known);
    }
  }

  private static AgentAnswer unanswered(IOException broken) {
    return new AgentAnswer.Silent(ClusterText.clean(String.valueOf(broken.getMessage())));
  }

  private static AgentAnswer unanswered(GpushException known) {
    return known.failure() instanceof AgentFailure.NotThere
        ? new AgentAnswer.NoAgent()
        : new AgentAnswer.Silent(ClusterText.clean(FailureText.clause(known.failure())));
  }

  private AgentAnswer ask(Json pod, Json.Obj header, List<String> command)
      throws IOException, InterruptedException {
    if (Pods.hasEnded(pod)) {
      return new AgentAnswer.NoAgent();
    }
    if (!Pods.isRunning(pod)) {
      return new AgentAnswer.Silent(PodFailure.of(pod).words());
    }
    try (Pipe pipe = opened(pod, command)) {
      return new AgentAnswer.Said(agent.ask(pipe, header));
    }
  }
}
