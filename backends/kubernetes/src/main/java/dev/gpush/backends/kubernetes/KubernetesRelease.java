package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.pods.AttachedGangs;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.PodAgents;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.kubernetes.pods.WaitingPipes;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.PollInterval;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Releases a gang: its agents release, then its Job is deleted with everything that it owns, until
 * no pod exists any longer: a pod that is still ending holds its GPUs.
 */
final class KubernetesRelease {
  /** For an agent that could not be asked and gets a signal: it may have runs to stop. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /**
   * For an agent that never answered. The first process of a container receives no signal before it
   * has a handler, and would be waited for during the pod's whole grace period.
   */
  static final Duration SHORT_GRACE = Duration.ofSeconds(2);

  /** Deletions that wait for an answer of the API server. */
  private static final int AT_ONCE = 16;

  private final Namespace place;
  private final PodAgents agents;
  private final WaitingPipes pipes;
  private final Tasks tasks;

  KubernetesRelease(Namespace place, PodAgents agents, WaitingPipes pipes, Tasks tasks) {
    this.place = place;
    this.agents = agents;
    this.pipes = pipes;
    this.tasks = tasks;
  }

  /**
   * Releases it and waits until nothing of it exists.
   *
   * @return what was kept, as {@code Backend.release} has it
   */
  List<String> all(Gang gang, Duration limit) throws InterruptedException {
    return all(gang, limit, GRACE);
  }

  /**
   * The same with a shorter grace period.
   *
   * @param grace between signal and end, for agents that could not be asked
   */
  List<String> all(Gang gang, Duration limit, Duration grace) throws InterruptedException {
    pipes.close(gang.id());
    var left = new AtomicReference<>("its job is still there");
    var processes = new AtomicReference<>("");
    String why;
    try {
      return tasks.within(limit, "release", () -> release(gang, limit, grace, left, processes));
    } catch (TimeoutException late) {
      why = "after " + DurationText.of(limit) + " " + left.get() + processes.get();
    } catch (Unanswered unknown) {
      why = unknown.words();
    }
    throw new GpushException(new BackendFailure.NotReleased(place.name(), gang.id().text(), why));
  }

  private List<String> release(
      Gang gang,
      Duration limit,
      Duration grace,
      AtomicReference<String> left,
      AtomicReference<String> processes)
      throws InterruptedException, Unanswered {
    var kept = new ArrayList<String>();
    Optional<Json> job = place.job(gang.id());
    if (job.isPresent() && !Jobs.isBeingDeleted(job.get())) {
      // The other half of the time is for deleting the job, even if an agent does not answer.
      kept.addAll(letGo(gang, limit.dividedBy(2), processes));
      delete(job.get());
    }
    hurry(gang.id(), grace);
    awaitEnd(gang.id(), left);
    return List.copyOf(kept);
  }

  private List<String> letGo(Gang gang, Duration limit, AtomicReference<String> processes)
      throws InterruptedException, Unanswered {
    Json.Obj release = Json.object("do", "release");
    Map<Integer, AgentAnswer> answers =
        gang.nodes().isEmpty()
            ? agents.inPods(gang.id(), Pods.of(place, gang.id()).byNode(), release, limit)
            : agents.ask(
                gang.id(),
                gang.nodes().stream().map(NodeInfo::index).toList(),
                nodes -> Pods.of(place, gang.id()).byNode(nodes),
                release,
                limit);
    String left = AgentAnswer.left(AgentAnswer.said(answers));
    processes.set(left.isEmpty() ? "" : "; " + left);
    return AttachedGangs.kept(gang, AgentAnswer.said(answers));
  }

  private void delete(Json job) throws InterruptedException, Unanswered {
    try {
      place
          .api()
          .delete(
              place.path(Jobs.GROUP, "jobs", Jobs.name(job)),
              Json.object("propagationPolicy", "Background"));
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("delete jobs", refusal);
    }
  }

  /**
   * The pods end with the Job, but only one after the other, and after their own long grace period.
   * Deletes them directly, if that is allowed.
   */
  private void hurry(GangId gang, Duration grace) throws InterruptedException, Unanswered {
    var turns = new Semaphore(AT_ONCE);
    List<Json> staying =
        Pods.of(place, gang).all().stream().filter(pod -> !Pods.isEnding(pod)).toList();
    tasks.each("delete-pod", staying, pod -> delete(pod, grace, turns));
  }

  private boolean delete(Json pod, Duration grace, Semaphore turns)
      throws InterruptedException, Unanswered {
    turns.acquire();
    try {
      place
          .api()
          .delete(
              place.path("/api/v1", "pods", Pods.name(pod)),
              Json.object("gracePeriodSeconds", grace.toSeconds()));
      return true;
    } catch (ApiRefusal notAllowed) {
      return false;
    } finally {
      turns.release();
    }
  }

  private void awaitEnd(GangId gang, AtomicReference<String> left)
      throws InterruptedException, Unanswered {
    var interval = new PollInterval();
    while (true) {
      Optional<Json> job = place.job(gang);
      Pods pods = Pods.of(place, gang);
      if (job.isEmpty() && pods.all().isEmpty()) {
        return;
      }
      left.set(words(job, pods));
      interval.await();
    }
  }

  private String words(Optional<Json> job, Pods pods) {
    if (pods.all().isEmpty()) {
      return job.map(Jobs::name).map(name -> "its job " + name + " is still there").orElse("");
    }
    Json pod = pods.all().getFirst();
    String on = pod.object("spec").text("nodeName").map(node -> " on " + node).orElse("");
    return "its pod "
        + Pods.name(pod)
        + on
        + " is still there; if that node is off for good: "
        + ClusterText.clean(place.kubectl("delete pod " + Pods.name(pod) + " --force"));
  }
}
