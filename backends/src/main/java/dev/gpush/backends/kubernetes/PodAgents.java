package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.AgentAnswer;
import dev.gpush.backends.floor.Text;
import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.Pipe;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;

/** Asks the agents of a gang's pods, all at once. */
final class PodAgents {
  /** Each is a connection to the API server, which all people of the cluster share. */
  private static final int AT_ONCE = 32;

  private final Place place;
  private final AgentProgram agent;
  private final Tasks tasks;

  PodAgents(Place place, AgentProgram agent, Tasks tasks) {
    this.place = place;
    this.agent = agent;
    this.tasks = tasks;
  }

  /**
   * Asks the agent of every pod.
   *
   * @param pods by the number of the node that they are
   * @param control the question, as docs/technical/link.md section 1 has it
   * @param patience how long agents may take that are not there yet
   * @return an answer for every pod
   */
  Map<Integer, AgentAnswer> ask(
      GangId gang, Map<Integer, Json> pods, Json.Obj control, Duration patience, Duration limit)
      throws InterruptedException {
    return all(
        pods,
        node -> {
          Json.Obj header = header("control", gang, node, control);
          return patience.isZero() ? header : header.with("wait_s", patience.toSeconds());
        },
        limit.plus(patience));
  }

  /** Starts an agent beside what runs in each pod, or finds the one that is there. */
  Map<Integer, AgentAnswer> start(
      GangId gang, Map<Integer, Json> pods, Map<Integer, Json.Obj> starts, Duration limit)
      throws InterruptedException {
    return all(
        pods, node -> header("start", gang, node, starts.getOrDefault(node, Json.object())), limit);
  }

  private static Json.Obj header(String mode, GangId gang, int node, Json.Obj what) {
    return Json.object("mode", mode, "gang", gang.text(), "node", node, mode, what);
  }

  private Map<Integer, AgentAnswer> all(
      Map<Integer, Json> pods, IntFunction<Json.Obj> header, Duration limit)
      throws InterruptedException {
    var turns = new Semaphore(AT_ONCE);
    var asked = new TreeMap<Integer, Future<AgentAnswer>>();
    pods.forEach(
        (node, pod) -> {
          Callable<AgentAnswer> one = () -> ask(pod, header.apply(node), turns);
          asked.put(node, tasks.fork("ask-agent-" + node, one));
        });
    long end = place.time().nanos() + limit.toNanos();
    var answers = new TreeMap<Integer, AgentAnswer>();
    try {
      for (var each : asked.entrySet()) {
        answers.put(each.getKey(), awaited(each.getValue(), end, limit));
      }
    } finally {
      asked.values().forEach(future -> future.cancel(true));
    }
    return answers;
  }

  private AgentAnswer awaited(Future<AgentAnswer> answer, long end, Duration limit)
      throws InterruptedException {
    try {
      return answer.get(Math.max(0, end - place.time().nanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      return new AgentAnswer.Silent("no answer for " + DurationText.of(limit));
    } catch (ExecutionException failed) {
      return switch (failed.getCause()) {
        case GpushException known when known.failure() instanceof AgentFailure.NotThere ->
            new AgentAnswer.NoAgent();
        case GpushException known -> new AgentAnswer.Silent(words(known.failure()));
        case IOException broken ->
            new AgentAnswer.Silent(Text.clean(String.valueOf(broken.getMessage())));
        case null -> throw new IllegalStateException(failed);
        case Throwable other -> throw Tasks.unchecked(other);
      };
    }
  }

  private static String words(Failure failure) {
    return switch (failure) {
      case AgentFailure.NoPython _ -> "there is no Python 3.6 or later";
      case AgentFailure.OldPython(var found) -> "its Python is " + found + ", older than 3.6";
      case AgentFailure.CannotWrite(var path, var why) ->
          "cannot write " + path + ": " + Text.clean(why);
      case Failure other -> Text.clean(other.toString());
    };
  }

  private AgentAnswer ask(Json pod, Json.Obj header, Semaphore turns)
      throws IOException, InterruptedException {
    if (Pods.hasEnded(pod)) {
      return new AgentAnswer.NoAgent();
    }
    if (!Pods.isRunning(pod)) {
      return new AgentAnswer.Silent(Fate.of(pod).words());
    }
    turns.acquire();
    try (Pipe pipe =
        place
            .api()
            .exec(
                place.namespace(),
                Pods.name(pod),
                Lent.container(pod),
                agent.arguments(OwnPython.interpreters(pod)))) {
      return new AgentAnswer.Said(agent.ask(pipe, header));
    } finally {
      turns.release();
    }
  }
}
