package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Places all pods of a gang together or none: a scheduler, a queue, or gpush itself if the cluster
 * has neither.
 */
public interface GangSystem {
  /** Its name in the configuration. */
  String name();

  /** The Job with the marks of this system. */
  Json.Obj marked(Json.Obj job, GangObjects manifest);

  /**
   * Objects that must exist before the Job's pods, owned by the Job.
   *
   * @param job as it was created
   */
  default List<Companion> companions(Json job, GangObjects manifest) {
    return List.of();
  }

  /** An object beside the Job, and where objects of its kind are. */
  record Companion(String group, String kind, Json.Obj object) {}

  /** What lets the pods of a suspended Job start. */
  enum Begin {
    /** gpush, one gang at a time; all pods are deleted if not all are placed. */
    ASSEMBLED,
    /** gpush, at once: the scheduler keeps all pods waiting together. */
    AT_ONCE,
    /** The system itself. */
    BY_ITSELF
  }

  Begin begin();

  /**
   * Takes back a gang that it has started and whose pods were not all placed.
   *
   * @return false if it cannot do that
   */
  default boolean putBack(Namespace place, Json job) throws InterruptedException, Unanswered {
    return false;
  }

  /** Lets a gang that was put back start again. */
  default void letComeAgain(Namespace place, Json job) throws InterruptedException, Unanswered {}

  /** Makes it try a waiting gang again, if it does not notice by itself that there is room. */
  default void remind(Namespace place, Json job) throws InterruptedException, Unanswered {}

  /** How long a gang that was taken back must rest before the next attempt. */
  default Duration rest() {
    return Duration.ZERO;
  }

  /** Its reason why a gang waits; empty when only the pods have one. */
  Optional<Waiting> waiting(Namespace place, Json job, Pods pods)
      throws InterruptedException, Unanswered;

  /**
   * What becomes of a gang for which the nodes have room.
   *
   * @param now the plan as far as the nodes decide
   */
  default Plan plan(Namespace place, PodShape shape, int nodes, Plan.Now now)
      throws InterruptedException, Unanswered {
    return now;
  }

  /** What it considers before a gang that waits; empty if it does not say. */
  default Optional<JobsAhead> ahead(Namespace place, Json job)
      throws InterruptedException, Unanswered {
    return Optional.empty();
  }

  /**
   * Why it waits.
   *
   * @param isHopeless it will never start as requested
   */
  record Waiting(String words, boolean isHopeless) {}
}
