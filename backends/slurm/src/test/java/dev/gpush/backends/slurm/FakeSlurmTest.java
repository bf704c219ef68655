package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the rig's cluster does not do: hidden partitions, late agents, a node that is silent. */
final class FakeSlurmTest {
  private static final Duration EIGHT_HOURS = Duration.ofHours(8);

  @TempDir private Path folder;
  private final ManualClock clock = new ManualClock();
  private FakeSlurm slurm;

  @BeforeEach
  void begin() throws Exception {
    slurm = new FakeSlurm(folder, clock);
  }

  @AfterEach
  void end() {
    slurm.close();
  }

  private static Json left(Duration hardEnd) {
    return Json.object("ok", true, "hard_left_s", hardEnd.toSeconds() - 0.5);
  }

  @Test
  void aJobInAHiddenPartitionIsNotGone() {
    assertEquals(new Observation.Exists(), slurm.backend(Json.object()).observe(FakeSlurm.gang()));
  }

  @Test
  void aJobIsNotGoneWhileTheLoginNodeDoesNotKnowItsUser() throws Exception {
    slurm.losesUsers();
    SlurmBackend backend = slurm.backend(Json.object());

    var unknown = assertInstanceOf(Observation.CannotTell.class, backend.observe(FakeSlurm.gang()));
    assertTrue(unknown.reason().contains("Invalid user"), unknown::reason);
    var refused =
        assertThrows(
            GpushException.class, () -> backend.release(FakeSlurm.gang(), Duration.ofMinutes(1)));
    assertInstanceOf(BackendFailure.NotReleased.class, refused.failure());
  }

  @Test
  void aLoginThatHasRefusedTheKeysIsNamed() {
    slurm.close(new MachineFailure.KeyRefused("login", "hpc", "Permission denied (publickey)"));

    assertEquals(
        new Observation.CannotTell("login has refused your keys: gpush login hpc tries again"),
        slurm.backend(Json.object()).observe(FakeSlurm.gang()));
  }

  @Test
  void aHiddenPartitionIsUsedWhenItIsNamed() {
    SlurmBackend named = slurm.backend(Json.object("partition", List.of("lab")));
    assertInstanceOf(Plan.Now.class, named.plan(FakeSlurm.request(EIGHT_HOURS)));
    assertTrue(named.describe().endsWith("partitions lab"), named::describe);

    SlurmBackend unnamed = slurm.backend(Json.object());
    assertInstanceOf(Plan.Never.class, unnamed.plan(FakeSlurm.request(EIGHT_HOURS)));
  }

  @Test
  void agentsThatHaveStartedLateEndBeforeTheJobsLimit() throws Exception {
    slurm.answer(List.of(left(EIGHT_HOURS), left(EIGHT_HOURS.minusSeconds(40))));
    slurm.runs("7:47:00");

    assertEquals(2, slurm.resumed(EIGHT_HOURS).nodes().size());

    String renewal = slurm.renewals().getFirst();
    assertTrue(
        renewal.contains("\"hard_s\":" + Duration.parse("PT7H45M").toSeconds()), () -> renewal);
    assertTrue(renewal.contains("\"idle_s\":3600"), () -> renewal);
  }

  @Test
  void agentsThatHaveStartedAtOnceKeepTheirEnd() throws Exception {
    slurm.answer(List.of(left(EIGHT_HOURS), left(EIGHT_HOURS)));
    slurm.runs("8:01:50");

    slurm.resumed(EIGHT_HOURS);

    assertEquals(List.of(), slurm.renewals());
  }

  /** As wrappers of sbatch do. */
  @Test
  void aJobIsAcceptedWhateverIsPrintedBesideItsNumber() throws Exception {
    for (String said : List.of("7\nMaintenance is on Monday.", "Submitted as 7")) {
      slurm.submits(said);
      slurm.answer(List.of(left(EIGHT_HOURS), left(EIGHT_HOURS)));
      SlurmBackend backend = slurm.backend(Json.object("partition", List.of("lab")));

      assertEquals("slurm job 7", backend.reserve(FakeSlurm.request(EIGHT_HOURS)).detail());
    }
  }

  /** Where a step ends at once, the next one is not started at once. */
  @Test
  void theControllerIsNotBusyWithAgentsThatDoNotAnswerYet() throws Exception {
    slurm.silent(3);
    slurm.answer(List.of(left(EIGHT_HOURS), left(EIGHT_HOURS)));
    slurm.runs("8:01:50");
    long before = System.nanoTime();

    slurm.resumed(EIGHT_HOURS);

    Duration waited = Duration.ofNanos(System.nanoTime() - before);
    assertTrue(waited.compareTo(Duration.ofMillis(200 + 260 + 338)) >= 0, waited::toString);
  }

  /** The connection is lost for twice as long as the agents may take. */
  @Test
  void aJobThatRunsIsNotGivenBackInAnOutage() throws Exception {
    slurm.answer(List.of());
    var looks = new AtomicInteger();
    Waiter waiter =
        words -> {
          try {
            if (words.startsWith("starting agents")) {
              slurm.losesUsers();
            } else if (looks.incrementAndGet() == 1) {
              clock.advance(Duration.ofMinutes(6));
            } else {
              slurm.findsUsers();
              slurm.answer(List.of(left(EIGHT_HOURS), left(EIGHT_HOURS)));
            }
          } catch (IOException broken) {
            throw new UncheckedIOException(broken);
          }
        };

    assertEquals(2, slurm.resumed(EIGHT_HOURS, waiter).nodes().size());
  }

  /** The others take their hard end from node 0. */
  @Test
  void extendFailsWhenNodeZeroIsSilent() throws Exception {
    Gang gang = FakeSlurm.gang();
    var terms = new LeaseTerms(Optional.of(Duration.ofHours(4)), Duration.ofHours(1));
    SlurmBackend backend = slurm.backend(Json.object());
    slurm.answer(List.of(left(EIGHT_HOURS), Json.object()));
    backend.renew(gang, terms);
    slurm.answer(List.of(Json.object(), left(EIGHT_HOURS)));

    var refused = assertThrows(GpushException.class, () -> backend.renew(gang, terms));

    var why = assertInstanceOf(BackendFailure.Unavailable.class, refused.failure());
    assertTrue(why.reason().contains("node 0: no answer"), why::reason);
  }
}
