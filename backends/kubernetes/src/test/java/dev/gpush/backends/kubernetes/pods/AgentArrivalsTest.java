package dev.gpush.backends.kubernetes.pods;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class AgentArrivalsTest {
  @Test
  void whoHasAnsweredIsNotAskedAgainUnlessThePodOrItsContainerIsAnother() throws Exception {
    var asked = new ConcurrentLinkedQueue<String>();
    AgentArrivals.Greeting greeting =
        (_, pod) -> {
          asked.add(Pods.name(pod));
          return Pods.name(pod).equals("late") && asked.size() < 3
              ? new AgentAnswer.Silent("not yet")
              : new AgentAnswer.Said(Json.object("at", Pods.name(pod)));
        };
    try (Tasks tasks = Tasks.named("arrivals", (_, _) -> {});
        var arrivals = new AgentArrivals(greeting, Clock.system(), tasks)) {
      var first = new Pods(List.of(runs(0, "a", 0), runs(1, "late", 0)));

      arrivals.greet(first);
      assertEquals(
          Map.of(
              0,
              new AgentAnswer.Said(Json.object("at", "a")),
              1,
              new AgentAnswer.Silent("not yet")),
          arrivals.await(first, BackendContract.LIMIT));
      arrivals.greet(first);
      arrivals.greet(first);
      assertEquals(2, AgentAnswer.said(arrivals.await(first, BackendContract.LIMIT)).size());
      assertEquals(List.of("a", "late", "late"), asked.stream().sorted().toList());

      var later = new Pods(List.of(runs(0, "a", 1), runs(1, "other", 0), podOf(2, "starts")));
      assertEquals(Map.of(), AgentAnswer.said(arrivals.await(later, Duration.ZERO)));
      arrivals.greet(later);
      assertEquals(
          Set.of(0, 1), AgentAnswer.said(arrivals.await(later, BackendContract.LIMIT)).keySet());
      assertEquals(List.of("a", "a", "late", "late", "other"), asked.stream().sorted().toList());
    }
  }

  /** It would end as unclaimed. */
  @Test
  void anAgentIsAskedAgainWhileAnotherOneIsLateForLong() throws Exception {
    var asked = new ConcurrentLinkedQueue<String>();
    AgentArrivals.Greeting greeting =
        (_, pod) -> {
          asked.add(Pods.name(pod));
          return new AgentAnswer.Said(Json.object());
        };
    var clock = new ManualClock();
    var pods = new Pods(List.of(runs(0, "a", 0), podOf(1, "late")));
    try (Tasks tasks = Tasks.named("arrivals", (_, _) -> {});
        var arrivals = new AgentArrivals(greeting, clock, tasks)) {
      for (int minutes = 0; minutes <= 12; minutes++) {
        arrivals.greet(pods);
        arrivals.await(pods, BackendContract.LIMIT);
        clock.advance(Duration.ofMinutes(1));
      }
    }

    assertEquals(List.of("a", "a", "a"), List.copyOf(asked));
  }

  /** What waits in a pod that is not wanted any more is not waited for. */
  @Test
  void whosePodIsGoneIsNotWaitedFor() throws Exception {
    var begun = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    AgentArrivals.Greeting greeting =
        (_, _) -> {
          begun.countDown();
          try {
            new CountDownLatch(1).await();
            return new AgentAnswer.NoAgent();
          } finally {
            interrupted.countDown();
          }
        };
    try (Tasks tasks = Tasks.named("arrivals", (_, _) -> {});
        var arrivals = new AgentArrivals(greeting, Clock.system(), tasks)) {
      var there = new Pods(List.of(runs(0, "a", 0)));
      arrivals.greet(there);
      assertEquals(
          Map.of(0, new AgentAnswer.Silent("it is starting")),
          arrivals.await(there, Duration.ZERO));

      // What is cancelled before it began never ends.
      assertTrue(begun.await(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS));
      arrivals.greet(new Pods(List.of()));

      assertTrue(interrupted.await(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
  }

  private static Json runs(int node, String name, int restarts) {
    return ((Json.Obj) podOf(node, name))
        .with(
            "status",
            Json.object(
                "phase",
                "Running",
                "containerStatuses",
                List.of(
                    Json.object(
                        "name",
                        GangObjects.CONTAINER,
                        "restartCount",
                        restarts,
                        "state",
                        Json.object("running", Json.object())))))
        .with(
            "spec", Json.object("containers", List.of(Json.object("name", GangObjects.CONTAINER))));
  }

  private static Json podOf(int node, String name) {
    return Json.object(
        "metadata",
        Json.object(
            "name",
            name,
            "labels",
            Json.object("batch.kubernetes.io/job-completion-index", Integer.toString(node))));
  }
}
