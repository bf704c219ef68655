package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.WaitReason;
import dev.gpush.backends.slurm.command.SbatchRefusal;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every reason to wait and every refusal has a sentence of its own. */
final class WordsTest {
  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "PartitionNodeLimit",
        "PartitionTimeLimit",
        "PartitionConfig",
        "BadConstraints",
        "InvalidAccount",
        "InvalidQOS",
        "QOSNotAllowed",
        "AccountNotAllowed",
        "DependencyNeverSatisfied",
        "QOSMaxCpuPerJobLimit",
        "AssocMaxNodePerJobLimit",
        "QOSMaxGRESPerNode",
        "QOSMinGRES",
        "AccountingPolicy",
        "ReservationDeleted",
        "ReservationInvalid",
        "JobHoldMaxRequeue",
        "MaxMemPerLimit"
      })
  void hopelessReasons(String reason) {
    assertTrue(WaitReason.of(reason).isHopeless(true));
    assertFalse(WaitReason.of(reason).words().startsWith(reason));
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "None",
        "Priority",
        "Resources",
        "Prolog",
        "BeginTime",
        "Licenses",
        "SchedDefer",
        "Cleaning",
        "QOSGrpGRES",
        "AssocGrpNodeLimit",
        "QOSMaxGRESPerUser",
        "MaxJobsPerAccount",
        "Reservation",
        "NvidiaImexChannels",
        "JobHeldUser",
        "JobHeldAdmin",
        "Dependency",
        "NodeDown",
        "PartitionDown",
        "PartitionInactive",
        "BurstBufferResources",
        "ReqNodeNotAvail, Reserved for maintenance",
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority"
            + " partitions",
        "SomethingNew"
      })
  void reasonsThatPass(String reason) {
    assertFalse(WaitReason.of(reason).isHopeless(true));
    assertFalse(WaitReason.of(reason).words().isBlank());
  }

  /** Before a maintenance administrators lower limits for a while. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"PartitionTimeLimit", "PartitionNodeLimit"})
  void aLimitThatComesLaterIsWaitedFor(String reason) {
    assertTrue(WaitReason.of(reason).isHopeless(true));
    assertFalse(WaitReason.of(reason).isHopeless(false));
    assertTrue(WaitReason.of("QOSNotAllowed").isHopeless(false));
  }

  @Test
  void unavailableNodesAreNamed() {
    assertEquals(
        "nodes that it needs are down, drained or reserved: gpu4",
        WaitReason.of("ReqNodeNotAvail, UnavailableNodes:gpu4").words());
    assertTrue(
        WaitReason.of("ReqNodeNotAvail, Reserved for maintenance").words().contains("--for"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Invalid partition name specified | true
          No partition specified or system default partition | true
          User's group not permitted to use this partition | true
          Requested node configuration is not available | true
          Requested partition configuration not available now | false
          Requested nodes are busy | false
          Invalid account or account/partition combination specified | true
          Invalid qos specification | true
          Invalid generic resource (gres) specification | true
          Invalid feature specification | true
          Job violates accounting/QOS policy (job submit limit, user's size and/or time limits) | true
          Requested time limit is invalid (missing or exceeds some limit) | true
          Access denied to requested reservation | true
          Requested reservation is invalid | true
          Requested topology configuration is not available | true
          Partition in DOWN state | false
          Required node not available (down, drained or reserved) | false
          Required partition not available (inactive or drain) | true
          Unable to contact slurm controller (connect failure) | false
          """)
  void refusals(String said, boolean isHopeless) {
    SbatchRefusal refusal =
        SbatchRefusal.of("Welcome\nsbatch: error: Batch job submission failed: " + said + "\n");

    assertEquals(isHopeless, refusal.isHopeless());
    assertFalse(refusal.words().startsWith("sbatch says"), refusal::words);
    assertEquals(isHopeless, !refusal.works().isEmpty());
  }

  @Test
  void eachRefusalHasItsOwnSentence() {
    var seen = new HashSet<String>();
    for (String said :
        List.of(
            "Invalid partition name",
            "Invalid account",
            "Invalid qos",
            "Invalid generic resource",
            "Invalid feature specification",
            "Access denied to requested reservation",
            "Requested reservation is invalid",
            "User's group not permitted to use this partition")) {
      assertTrue(seen.add(SbatchRefusal.of(said).words()), said);
    }
    assertEquals(
        new SbatchRefusal("sbatch says: something new", List.of(), SbatchRefusal.Meaning.PASSING),
        SbatchRefusal.of("sbatch: error: something new"));
  }

  @Test
  void everyEndIsToldInWords() {
    var seen = new HashSet<String>();
    for (String state :
        Set.of(
            "COMPLETED",
            "CANCELLED",
            "FAILED",
            "TIMEOUT",
            "NODE_FAIL",
            "PREEMPTED",
            "BOOT_FAIL",
            "OUT_OF_MEMORY",
            "DEADLINE")) {
      SlurmJob job =
          new SlurmJob(
              7,
              new SlurmJob.Size(1, 1, 0),
              new SlurmJob.Label("", "", ""),
              new SlurmJob.Status(state, ""),
              "",
              new SlurmJob.Times("", ""),
              "",
              0);
      assertTrue(job.hasEnded(), state);
      assertTrue(seen.add(job.fate()), state);
    }
  }
}
