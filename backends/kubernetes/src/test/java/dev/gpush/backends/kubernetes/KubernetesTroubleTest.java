package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.Ended;
import dev.gpush.testkit.rig.KubernetesRig;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What goes wrong with a cluster, on a real one. */
@ResourceLock(KubernetesRig.PLAIN)
@Tag("kubernetes")
final class KubernetesTroubleTest {
  private static final LeaseTerms LONG = BackendContract.LONG;

  private static KubernetesPlace place() throws Exception {
    return KubernetesPlace.of("plain");
  }

  private static Failure refused(KubernetesBackend backend, GangRequest request) {
    return assertThrows(GpushException.class, () -> backend.reserve(request)).failure();
  }

  // ---- all or nothing

  @Test
  @Timeout(Race.LONGEST)
  void twoGangsThatRaceNeverHoldAPart() throws Exception {
    try (KubernetesPlace place = place()) {
      new Race(place, 3, "1 of its 3 nodes").run(ROUNDS);
    }
  }

  private static final int ROUNDS =
      Integer.getInteger("gpush.rounds", Boolean.getBoolean("gpush.long") ? 50 : 2);

  private static List<String> pods(KubernetesPlace place, GangRequest request) throws Exception {
    return place
        .kubectl("get", "pods", "-l", PodTag.selector(request.gang()), "-o", "name")
        .lines()
        .toList();
  }

  /** Somebody who does not ask the API of ours takes a node while the gang is placed. */
  @Test
  void podsWithoutAllTheirPlacesAreTakenBack() throws Exception {
    try (KubernetesPlace place = place();
        Tasks tasks = Tasks.named("part", (_, _) -> {})) {
      // What a node has is not what it gives: the scheduler alone knows of the label.
      place.rig().kubectl("cordon", "n4");
      KubernetesBackend blind = place.with(Json.object("assembly", 3, "grows", true));
      var heard = new LinkedBlockingQueue<String>();
      GangRequest request = place.request(4, LONG);
      Task<Gang, RuntimeException> waiting =
          tasks.fork("gang", () -> blind.reserve(request, heard::add));
      try {
        KubernetesPlace.until(
            () -> heard.stream().anyMatch(word -> word.contains("3 of 4 pods were placed")));
        KubernetesPlace.until(() -> pods(place, request).isEmpty());
      } finally {
        place.rig().kubectl("uncordon", "n4");
      }

      Gang gang = waiting.get(BackendContract.LIMIT);

      assertEquals(4, gang.nodes().size());
      assertEquals(List.of(), blind.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  // ---- fates

  @Test
  void aKilledAgentComesBackInItsPodAndADeletedPodAsAnother() throws Exception {
    try (KubernetesPlace place = place()) {
      Gang gang = place.backend().reserve(place.request(2, LONG));
      String file = gang.nodes().get(1).workspace() + "/kept";
      run(place, gang, "mkdir -p " + gang.nodes().get(1).workspace() + "; echo here >" + file);
      String before = run(place, gang, "hostname -i; cat " + file);

      run(place, gang, "kill -KILL -1; kill -TERM 1");
      KubernetesPlace.until(() -> restarts(place, gang, 1) == 1);
      KubernetesPlace.until(() -> attempt(place, gang, "cat " + file).isPresent());
      assertEquals(before, run(place, gang, "hostname -i; cat " + file));
      assertInstanceOf(Observation.Exists.class, place.backend().observe(gang));

      place.kubectl("delete", "pod", "-l", "batch.kubernetes.io/job-completion-index=1");
      KubernetesPlace.until(
          () -> attempt(place, gang, "cat " + file + " || echo fresh").isPresent());
      assertEquals("fresh", run(place, gang, "cat " + file + " 2>/dev/null || echo fresh").strip());
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Without a gateway, which would give it the lease again. */
  @Test
  void anotherContainerOfNode0GoesOnWithTheLease() throws Exception {
    try (KubernetesPlace place = place();
        Tasks tasks = Tasks.named("status", (_, _) -> {})) {
      Gang gang = place.backend().reserve(place.request(1, LONG));
      var longer = new LeaseTerms(Optional.of(Duration.ofHours(50)), Duration.ofHours(30));
      place.backend().renew(gang, longer);

      attempt(place, gang, 0, "kill -KILL -1; kill -TERM 1");
      KubernetesPlace.until(() -> restarts(place, gang, 0) == 1);
      KubernetesPlace.until(() -> attempt(place, gang, 0, "true").isPresent());
      var program = new AgentImage(tasks, new SecureRandom());
      Json status =
          program.ask(
              place.backend().spawn(gang, 0, program.arguments(AgentProgram.INTERPRETERS)),
              Json.object(
                  "mode",
                  "control",
                  "gang",
                  gang.id().text(),
                  "node",
                  0,
                  "wait_s",
                  30,
                  "control",
                  Json.object("do", "status")));

      assertEquals(49, status.number("hard_left_s").orElse(0L) / 3600, status::write);
      assertEquals(29, status.number("idle_left_s").orElse(0L) / 3600, status::write);
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  private static String run(KubernetesPlace place, Gang gang, String script) throws Exception {
    return attempt(place, gang, script).orElse("");
  }

  private static Optional<String> attempt(KubernetesPlace place, Gang gang, String script) {
    return attempt(place, gang, 1, script);
  }

  private static Optional<String> attempt(
      KubernetesPlace place, Gang gang, int node, String script) {
    try {
      Ended ended =
          Ended.of(place.backend().spawn(gang, node, List.of("sh", "-c", script)), new byte[0]);
      return ended.status() == 0 ? Optional.of(ended.output()) : Optional.empty();
    } catch (Exception notNow) {
      return Optional.empty();
    }
  }

  private static int restarts(KubernetesPlace place, Gang gang, int node) throws Exception {
    String said =
        place.kubectl(
            "get",
            "pods",
            "-l",
            PodTag.selector(gang.id()) + ",batch.kubernetes.io/job-completion-index=" + node,
            "-o",
            "jsonpath={.items[*].status.containerStatuses[*].restartCount}");
    return said.matches("[0-9]+") ? Integer.parseInt(said) : -1;
  }

  @Test
  void aJobThatSomebodyDeletesIsGone() throws Exception {
    try (KubernetesPlace place = place()) {
      Gang gang = place.backend().reserve(place.request(2, LONG));

      place.kubectl("delete", "jobs", "-l", PodTag.selector(gang.id()), "--wait=false");
      KubernetesPlace.until(() -> place.backend().observe(gang) instanceof Observation.Gone);

      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void anApiServerThatIsAwayMeansNothing() throws Exception {
    try (KubernetesPlace place = place();
        Tasks tasks = Tasks.named("away", (_, _) -> {})) {
      Gang gang = place.backend().reserve(place.request(3, LONG));
      GangRequest two = place.request(2, LONG);
      var heard = new LinkedBlockingQueue<String>();
      Task<Gang, RuntimeException> waiting =
          tasks.fork("gang", () -> place.again().reserve(two, heard::add));
      KubernetesPlace.until(
          () -> heard.stream().anyMatch(word -> word.contains("1 of its 2 nodes")));
      place.rig().off("apiserver");
      try {
        assertInstanceOf(Observation.CannotTell.class, place.backend().observe(gang));
        KubernetesPlace.until(
            () -> heard.stream().anyMatch(word -> word.contains("its state is unknown")));
      } finally {
        place.rig().on("apiserver");
      }
      KubernetesPlace.until(() -> place.backend().observe(gang) instanceof Observation.Exists);

      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      Gang second = waiting.get(BackendContract.LIMIT);
      assertEquals(List.of(), place.backend().release(second, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Its pods cannot be told to end; the deadline is the API server's own. */
  @Test
  void theDeadlineOfTheJobEndsWhatItsAgentsDoNot() throws Exception {
    try (KubernetesPlace place = place()) {
      var soon = new LeaseTerms(Optional.of(Duration.ofHours(1)), Duration.ofHours(1));
      Gang gang = place.backend().reserve(place.request(1, soon));
      String job = place.kubectl("get", "jobs", "-l", PodTag.selector(gang.id()), "-o", "name");

      String deadline = place.kubectl("get", job, "-o", "jsonpath={.spec.activeDeadlineSeconds}");
      assertEquals(3660, Integer.parseInt(deadline));
      place
          .backend()
          .renew(gang, new LeaseTerms(Optional.of(Duration.ofHours(2)), Duration.ofHours(1)));
      int moved =
          Integer.parseInt(
              place.kubectl("get", job, "-o", "jsonpath={.spec.activeDeadlineSeconds}"));
      assertTrue(moved >= 7260 && moved < 7400, () -> "" + moved);
      place.kubectl("patch", job, "-p", "{\"spec\":{\"activeDeadlineSeconds\":1}}");

      KubernetesPlace.until(() -> place.backend().observe(gang) instanceof Observation.Gone);
      Observation.Gone gone =
          assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      assertEquals("its lease is over (the deadline of its job)", gone.reason());
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }
}
