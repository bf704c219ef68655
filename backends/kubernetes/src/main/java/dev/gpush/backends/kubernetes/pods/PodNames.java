package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Finds the present pod of each node. Many links that open at once cause one request to the API
 * server: callers share the answer of a request in progress, also a failed one.
 */
public final class PodNames {
  private static final Duration FRESH = Duration.ofSeconds(1);

  private final Namespace place;
  private final PodHistory past;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Map<GangId, Seen> seen = new HashMap<>();

  public PodNames(Namespace place, PodHistory past) {
    this.place = place;
    this.past = past;
  }

  private sealed interface Answer {
    record There(Pods pods) implements Answer {}

    record Unknown(Unanswered why) implements Answer {}
  }

  private record Seen(Answer answer, long nanos) {}

  /** An empty object if the node has no pod. */
  public Json pod(GangId gang, int node) throws InterruptedException, Unanswered {
    lock.lockInterruptibly();
    try {
      // The list is large and outdated after a second.
      long now = place.time().nanos();
      seen.values().removeIf(last -> now - last.nanos() > FRESH.toNanos());
      Seen last = seen.get(gang);
      if (last == null) {
        last = new Seen(asked(gang), place.time().nanos());
        seen.put(gang, last);
      }
      return pod(last.answer(), node);
    } finally {
      lock.unlock();
    }
  }

  private Answer asked(GangId gang) throws InterruptedException {
    try {
      Pods pods = Pods.of(place, gang);
      past.seen(gang, pods);
      return new Answer.There(pods);
    } catch (Unanswered unknown) {
      return new Answer.Unknown(unknown);
    }
  }

  private static Json pod(Answer answer, int node) throws Unanswered {
    return switch (answer) {
      case Answer.There(var pods) -> pods.byNode().getOrDefault(node, Json.object());
      case Answer.Unknown(var why) -> throw new Unanswered(why.words(), why.getCause());
    };
  }
}
