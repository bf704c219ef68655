package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.KubernetesRig;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Schedulers of gangs that are not Kubernetes' own, for real; in the long profile. */
@ResourceLock(KubernetesRig.OTHERS)
@EnabledIfSystemProperty(
    named = "gpush.long",
    matches = "true",
    disabledReason = "it is in the long profile")
@Tag("kubernetes")
final class KubernetesSchedulersTest {
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", 5);

  /** YuniKorn has to forget a gang before it comes again. */
  private static final Duration LATER = BackendContract.LIMIT.multipliedBy(3);

  /** As the rig has them. */
  enum Scheduler {
    VOLCANO(
        Json.object("gang", "volcano"),
        "tasks in gang unschedulable",
        "tasks in gang unschedulable",
        "tasks in gang unschedulable"),
    COSCHEDULING(
        Json.object("gang", "coscheduling"), "nvidia.com/gpu", "", "node(s) were unschedulable"),
    KAI(
        Json.object("gang", "kai", "queue", "research"),
        "GPU",
        "limit",
        "Resources were found for 1 pods"),
    YUNIKORN(
        Json.object("gang", "yunikorn"),
        "there is room for 1 of its 3 nodes",
        "",
        "of 2 pods were placed");

    private final Json.Obj settings;
    private final String full;
    private final String small;
    private final String closed;

    /**
     * What is said by each.
     *
     * @param full of gangs for which there is no room
     * @param small of gangs that are larger than their queue
     * @param closed where only one node takes pods
     */
    Scheduler(Json.Obj settings, String full, String small, String closed) {
      this.settings = settings;
      this.full = full;
      this.small = small;
      this.closed = closed;
    }

    KubernetesPlace place() throws Exception {
      return new KubernetesPlace(KubernetesRig.of("others"), settings);
    }
  }

  @ParameterizedTest
  @EnumSource
  void gangIsGrantedAndGivenBack(Scheduler scheduler) throws Exception {
    try (KubernetesPlace place = scheduler.place()) {
      Gang gang = place.backend().reserve(place.request(2, BackendContract.LONG));

      assertEquals(2, gang.nodes().size());
      assertEquals(List.of(), place.again().release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
      KubernetesPlace.until(() -> place.kubectl("get", "pods", "-o", "name").isEmpty());
    }
  }

  @ParameterizedTest
  @EnumSource
  @Timeout(Race.LONGEST)
  void gangsThatRaceNeverHoldAPart(Scheduler scheduler) throws Exception {
    try (KubernetesPlace place = scheduler.place()) {
      new Race(place, 3, scheduler.full).run(ROUNDS);
    }
  }

  /** More than its queue will ever give. */
  @ParameterizedTest
  @EnumSource(names = {"VOLCANO", "KAI"})
  void gangThatIsTooLargeForItsQueueWaitsAndIsToldWhy(Scheduler scheduler) throws Exception {
    try (KubernetesPlace place = scheduler.place();
        Tasks tasks = Tasks.named("large", (_, _) -> {})) {
      var heard = new LinkedBlockingQueue<String>();
      KubernetesBackend backend = place.with(Json.object("queue", "small"));
      GangRequest request = place.request(2, BackendContract.LONG);
      Task<Gang, RuntimeException> waiting =
          tasks.fork("gang", () -> backend.reserve(request, heard::add));

      KubernetesPlace.until(
          () -> heard.stream().anyMatch(word -> word.contains(scheduler.small)), heard::toString);
      waiting.cancel();

      KubernetesPlace.until(() -> place.left().isEmpty());
    }
  }

  /** What is taken back by us meanwhile is taken by the scheduler when it comes again. */
  @ParameterizedTest
  @EnumSource
  void whatNodesHaveNoRoomForHoldsNothingAndComesLater(Scheduler scheduler) throws Exception {
    try (KubernetesPlace place = scheduler.place();
        Tasks tasks = Tasks.named("later", (_, _) -> {})) {
      var heard = new LinkedBlockingQueue<String>();
      KubernetesBackend backend = place.with(Json.object("grows", true, "assembly", 3));
      GangRequest request = place.request(2, BackendContract.LONG);
      List<String> closed = List.of("n2", "n3", "n4");
      for (String node : closed) {
        place.rig().kubectl("cordon", node);
      }
      Task<Gang, RuntimeException> waiting =
          tasks.fork("gang", () -> backend.reserve(request, heard::add));
      try {
        KubernetesPlace.until(
            () -> heard.stream().anyMatch(word -> word.contains(scheduler.closed)),
            heard::toString);
        KubernetesPlace.until(
            () ->
                place.kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}").isEmpty());
      } finally {
        for (String node : closed) {
          place.rig().kubectl("uncordon", node);
        }
      }

      Gang gang = waiting.get(LATER);

      assertEquals(2, gang.nodes().size());
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void yunikornSaysWhatItsQueueWillNeverGive() throws Exception {
    try (KubernetesPlace place = Scheduler.YUNIKORN.place()) {
      KubernetesBackend backend = place.with(Json.object("queue", "root.small"));

      BackendFailure.NeverFits never =
          assertInstanceOf(
              BackendFailure.NeverFits.class,
              assertThrows(
                      GpushException.class,
                      () -> backend.reserve(place.request(2, BackendContract.LONG)))
                  .failure());

      assertTrue(never.reason().startsWith("YuniKorn does not take it: "), never::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void gangsAreNamedByTheConfigurationWhereThereAreSeveralSystems() throws Exception {
    try (KubernetesPlace place = Scheduler.VOLCANO.place()) {
      for (Scheduler scheduler : Scheduler.values()) {
        String name = scheduler.settings.text("gang").orElseThrow();
        assertEquals(
            "gangs by " + name + ": gang: " + name,
            place.with(scheduler.settings).explain().get(1));
      }
      assertEquals(
          "gangs by volcano: podgroups of scheduling.volcano.sh are served",
          place.with(Json.object("gang", "auto")).explain().get(1));
    }
  }
}
