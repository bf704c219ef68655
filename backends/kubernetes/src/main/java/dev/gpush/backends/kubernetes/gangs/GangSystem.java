package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Whoever places all pods of a gang together or none: a scheduler, a queue, or ourselves where the
 * cluster has neither.
 */
public interface GangSystem {
  /** As the configuration calls it. */
  String name();

  /** The Job so that this system knows it. */
  Json.Obj marked(Json.Obj job, GangObjects manifest);

  /**
   * What must be there before the Job's pods are, owned by the Job.
   *
   * @param job as it was created
   */
  List<Companion> companions(Json job, GangObjects manifest);

  /** An object beside the Job, and where objects of its kind are. */
  record Companion(String group, String kind, Json.Obj object) {}

  /** Who lets the pods of a suspended Job begin. */
  enum Begin {
    /** We, one gang at a time, and all are taken back if not all find a place. */
    ASSEMBLED,
    /** We, at once: the scheduler keeps them waiting together. */
    AT_ONCE,
    /** The system itself. */
    BY_ITSELF
  }

  Begin begin();

  /**
   * Takes back a gang that it has let begin and whose pods have not all found a place.
   *
   * @return false where it does not do that
   */
  default boolean putBack(Namespace place, Json job) throws InterruptedException, Unanswered {
    return false;
  }

  /** What was put back may come again. */
  default void letComeAgain(Namespace place, Json job) throws InterruptedException, Unanswered {}

  /** Has it look again at a gang that waits, where it does not see by itself that room came. */
  default void remind(Namespace place, Json job) throws InterruptedException, Unanswered {}

  /** For how long it must not see a gang again that was taken back. */
  default Duration rest() {
    return Duration.ZERO;
  }

  /** What it says of a gang that waits; empty when it says nothing that pods do not. */
  Optional<Waiting> waiting(Namespace place, Json job, Pods pods)
      throws InterruptedException, Unanswered;

  /**
   * Why it waits.
   *
   * @param isHopeless it will not start as it was asked for, however long one waits
   */
  record Waiting(String words, boolean isHopeless) {}
}
