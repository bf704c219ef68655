package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Capabilities.QueueOrder;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.SlurmRig;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A cluster with limits, a full partition, a drained node, and jobs that push others out. */
@ResourceLock(SlurmRig.LIMITS)
@Tag("slurm")
final class SlurmLimitsTest {
  private static Json.Obj in(String partition) {
    return Json.object("partition", List.of(partition));
  }

  private static SlurmBackend backend(SlurmPlace place, Json.Obj settings) {
    return place.with(place.rig().login("ann"), settings);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      value = {
        "full; (nodes are not free yet|higher priority)",
        "tired; are down, drained or reserved",
        "stopped; the partition is down",
      })
  void eachReasonToWaitHasItsWords(String partition, String words) throws Exception {
    try (var place = SlurmPlace.of("limits");
        var tasks = Tasks.named("waits", (_, _) -> {})) {
      SlurmBackend backend = backend(place, in(partition));
      GangRequest request = place.request(1, "H100:8", BackendContract.LONG);
      var heard = new LinkedBlockingQueue<String>();

      assertInstanceOf(Plan.Later.class, backend.plan(request));
      Task<Gang, RuntimeException> waiting =
          tasks.fork("reserve", () -> backend.reserve(request, heard::add));
      String said = "";
      while (!said.matches("(?s).*" + words + ".*")) {
        said = heard.poll(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertTrue(said != null, "never: " + words);
      }

      assertTrue(said.matches("(?s).*slurm job [0-9]+"), said);
      waiting.cancel();
      SlurmPlace.until(() -> place.leftovers().isEmpty());
      assertEquals(List.of(), backend.discover("alice"));
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "partition | closed | accepts no jobs now",
        "partition | closing | accepts no jobs now",
        "partition | members | your group may not use this partition",
        "partition | nowhere | there is no partition nowhere",
        "constraint | b200 | no node has this feature",
        "reservation | nosuch | there is no such reservation",
        "reservation | maintenance | the reservation is not for you",
        "nodelist | gpu99 | there is no node with that name",
      })
  void eachRefusalHasItsSentence(String key, String value, String words) throws Exception {
    try (var place = SlurmPlace.of("limits")) {
      Object given = key.equals("partition") ? List.of(value) : value;
      SlurmBackend backend = backend(place, Json.object(key, given));
      GangRequest request = place.request(1, "H100:1", BackendContract.LONG);

      Plan.Never never = assertInstanceOf(Plan.Never.class, backend.plan(request));
      GpushException refused = assertThrows(GpushException.class, () -> backend.reserve(request));

      assertTrue(never.reason().contains(words), never::reason);
      var failure = assertInstanceOf(BackendFailure.NeverFits.class, refused.failure());
      assertEquals(never.reason(), failure.reason());
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void whatSlurmTakesAndNeverStartsIsNotWaitedFor() throws Exception {
    try (var place = SlurmPlace.of("limits")) {
      Json.Obj tooLong = in("short").with("native", List.of("--time=60"));
      SlurmBackend backend = backend(place, tooLong);
      GangRequest request = place.request(1, "H100:1", BackendContract.LONG);

      GpushException refused = assertThrows(GpushException.class, () -> backend.reserve(request));

      var failure = assertInstanceOf(BackendFailure.NeverFits.class, refused.failure());
      assertEquals("the partition does not allow that much time", failure.reason());
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void theJobsAheadAreCountedWithTheirGpus() throws Exception {
    try (var place = SlurmPlace.of("limits");
        var tasks = Tasks.named("waits", (_, _) -> {})) {
      SlurmBackend backend = backend(place, in("full"));
      QueueOrder order = backend.capabilities().queueOrder().orElseThrow();
      GangRequest request = place.request(1, "H100:8", BackendContract.LONG);
      String array =
          place
              .rig()
              .ann(
                  "sbatch",
                  "--parsable",
                  "-p",
                  "full",
                  "--array=1-3",
                  "--gres=gpu:h100:4",
                  "-o",
                  "/dev/null",
                  "--wrap",
                  "sleep 600");
      try {
        Task<Gang, RuntimeException> waiting =
            tasks.fork("reserve", () -> backend.reserve(request));
        SlurmPlace.until(() -> order.ahead(request.gang()).isPresent());

        assertEquals(
            Optional.of(new JobsAhead("partition full", 3, List.of("3 of yours (12 GPUs)"), false)),
            order.ahead(request.gang()));
        waiting.cancel();
        SlurmPlace.until(() -> order.ahead(request.gang()).isEmpty());
      } finally {
        place.rig().ann("scancel", array);
      }
      SlurmPlace.until(() -> place.leftovers().isEmpty());
    }
  }

  @Test
  void whoIsPushedOutIsTold() throws Exception {
    try (var place = SlurmPlace.of("limits")) {
      SlurmBackend backend = backend(place, in("cancelled"));
      Gang gang = backend.reserve(place.request(2, "H100:8", BackendContract.LONG));
      String urgent =
          place
              .rig()
              .ann(
                  "sbatch",
                  "--parsable",
                  "-p",
                  "urgent",
                  "-N2",
                  "--exclusive",
                  "-o",
                  "/dev/null",
                  "--wrap",
                  "sleep 600");
      try {
        SlurmPlace.until(() -> backend.observe(gang) instanceof Observation.Gone);
      } finally {
        place.rig().ann("scancel", urgent);
      }

      var gone = assertInstanceOf(Observation.Gone.class, backend.observe(gang));
      assertTrue(
          gone.reason().contains("preempted") || gone.reason().contains("higher priority"),
          gone::reason);
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }
}
