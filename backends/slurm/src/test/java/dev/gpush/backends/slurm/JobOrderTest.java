package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.ManualClock;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the scheduler considers before a job of gpush that waits, from the lines of squeue. */
final class JobOrderTest {
  private static final String LAB = "partition lab";

  private FakeSlurm slurm;

  @BeforeEach
  void begin(@TempDir Path folder) throws Exception {
    slurm = new FakeSlurm(folder, new ManualClock());
  }

  @AfterEach
  void end() {
    slurm.close();
  }

  private Optional<JobsAhead> ahead() {
    return slurm
        .backend(Json.object())
        .capabilities()
        .queueOrder()
        .orElseThrow()
        .ahead(FakeSlurm.gang().id());
  }

  private static JobsAhead of(long jobs, String... who) {
    return new JobsAhead(LAB, jobs, List.of(who), false);
  }

  private static String job(String id, String user, String reason, int priority, String size) {
    String lab = user.equals("dave") ? "lab,debug" : "lab";
    return String.join(
        "|", id, "x", user, "PENDING", reason, lab, "N/A", "", "1:00:00", "" + priority, size, "");
  }

  @Test
  void jobsOfHigherPriorityAndEarlierOnesAreAhead() throws Exception {
    slurm.waits(
        job("9", "bob", "Resources", 501, "1|gres:gpu:h100:4"),
        job("6", "bob", "Priority", 500, "2|gres/gpu:2"),
        job("8", "carol", "Priority", 500, "1|gres:gpu:8"),
        job("5", "carol", "Priority", 499, "1|gres:gpu:8"),
        "4|x|eve|RUNNING|None|lab|N/A|g1|1:00:00|900|1|gres:gpu:8|");

    assertEquals(Optional.of(of(2, "2 of bob (8 GPUs)")), ahead());
  }

  @Test
  void anArrayIsAllItsTasksAndAHeterogeneousJobIsOne() throws Exception {
    slurm.waits(
        job("3_[1-10%2]", "bob", "JobArrayTaskLimit", 900, "1|gres:gpu"),
        job("4+0", "dave", "Priority", 900, "1|N/A"),
        job("4+1", "dave", "Priority", 900, "2|gres:gpu:h100:8,gres:nvme:1"));

    assertEquals(
        Optional.of(
            of(
                11,
                "10 of bob (10 GPUs, held by their own limits)",
                "1 of dave (at least 16 GPUs)")),
        ahead());
  }

  @Test
  void aHeterogeneousJobIsOneAlsoIfItsFirstPartIsElsewhere() throws Exception {
    slurm.waits(
        job("4+1", "dave", "Dependency", 900, "1|gres:gpu:8"),
        job("4+2", "dave", "Dependency", 900, "1|gres:gpu:8"),
        job("5+0", "bob", "Priority", 400, "1|N/A"),
        job("5+1", "bob", "Priority", 900, "1|gres:gpu:8"));

    assertEquals(
        Optional.of(of(2, "1 of bob (8 GPUs)", "1 of dave (16 GPUs, not ready to start)")),
        ahead());
  }

  @Test
  void jobsThatAreHeldAreCountedAndSaidToBe() throws Exception {
    slurm.waits(
        job("1", "ann", "Dependency", 900, "1|N/A"),
        job("2", "bob", "QOSMaxGRESPerUser", 900, "2|gres:gpu:8"),
        job("3", "carol", "AssocMaxJobsLimit", 900, "1|gres:gpu:1"),
        job("4", "carol", "ReqNodeNotAvail, UnavailableNodes:g1", 900, "1|gres:gpu:1"));

    assertEquals(
        Optional.of(
            of(
                4,
                "2 of carol (2 GPUs, 1 held by its own limit)",
                "1 of yours (at least 1 node, not ready to start)",
                "1 of bob (16 GPUs, held by its own limit)")),
        ahead());
  }

  @Test
  void aLimitThatUsersShareIsNotTheirOwn() throws Exception {
    slurm.waits(
        job("1", "bob", "AssocGrpGRES", 900, "1|gres:gpu:1"),
        job("2", "bob", "QOSGrpCpuLimit", 900, "1|gres:gpu:1"),
        job("3", "bob", "QOSMaxGRESPerAccount", 900, "1|gres:gpu:1"));

    assertEquals(Optional.of(of(3, "3 of bob (3 GPUs)")), ahead());
  }

  @Test
  void usersBeyondTheFirstFewAreOnlyCounted() throws Exception {
    var jobs = new String[9];
    for (int i = 0; i < jobs.length; i++) {
      jobs[i] = job("" + (100 + i), "u" + i, "Priority", 900, "x|(null)");
    }
    slurm.waits(jobs);

    assertEquals(
        Optional.of(
            of(9, "1 of u0", "1 of u1", "1 of u2", "1 of u3", "1 of u4", "4 of 4 other users")),
        ahead());
  }

  @Test
  void whereJobsArePrivateItIsSaid() throws Exception {
    slurm.waits();
    assertEquals(Optional.of(of(0)), ahead());

    slurm.keepsPrivate("accounts,jobs,usage");
    assertEquals(Optional.of(new JobsAhead(LAB, 0, List.of(), true)), ahead());
    slurm.waits(job("9", "bob", "Resources", 501, "1|gres:gpu:4"));
    assertEquals(
        Optional.of(new JobsAhead(LAB, 1, List.of("1 of bob (4 GPUs)"), true)),
        ahead(),
        "one coordinates an account");
  }

  @Test
  void nothingIsAheadOfAJobThatRunsOrIsGone() throws Exception {
    slurm.runs("9:00:00");
    assertEquals(Optional.empty(), ahead());
  }
}
