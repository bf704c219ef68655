package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.Sessions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where a gang would be and why, or why nowhere, to the letter. */
final class PlacesTranscriptTest {
  private final Desk desk = new Desk();

  @Test
  void dryRunSaysWhyItWouldBeThere() {
    desk.sessions.plans.put("rack", new Plan.Now("2 × 8 H100"));
    desk.sessions.plans.put(
        "hpc", new Plan.Later("too full", Optional.of(Duration.ofMinutes(40)), List.of()));
    desk.sessions.chosen = List.of("rack");
    desk.sessions.why = "on rack: free now; hpc would be ≈40m";

    desk.expect(
        """
        $ gpush up --gpus H100:8 --dry-run
        BACKEND  WHEN          WHAT
        rack     now           2 × 8 H100
        hpc      in about 40m  too full
        2> on rack: free now; hpc would be ≈40m
        """);
  }

  @Test
  void dryRunSaysWhatPartWouldBeGrantedNow() {
    desk.sessions.plans.put("hpc", new Plan.Later("too full", Optional.empty(), List.of()));
    desk.sessions.smaller =
        Map.of("hpc", new Outlook.Smaller(1, new GpuRequest(Optional.of("H100"), 8)));

    desk.expect(
        """
        $ gpush up --nodes 2 --gpus H100:8 --dry-run
        BACKEND  WHEN   WHAT
        hpc      later  too full
        2> hpc would grant --nodes 1 --gpus H100:8 now
        """);
  }

  @Test
  void whenNoBackendEverCanEachHasItsReason() {
    desk.sessions.failure =
        Optional.of(
            new BackendFailure.Nowhere(
                List.of(
                    new BackendFailure.Refusal(
                        "rack", new BackendFailure.NeverFits("rack", "it has 4 hosts", List.of())),
                    new BackendFailure.Refusal(
                        "hpc",
                        new BackendFailure.NeverFits(
                            "hpc",
                            "partition gpu gives one job at most 8 nodes",
                            List.of("--nodes 8 --gpus H100:8"))))));

    desk.expect(
        """
        $ gpush up --nodes 16 --gpus H100:8
        2> gpush: no backend can ever grant this
        2>   because rack: it has 4 hosts
        2>     hpc: partition gpu gives one job at most 8 nodes; what would fit: --nodes 8 --gpus H100:8
        2>   try: gpush up --nodes 8 --gpus H100:8
        ? 1
        """);
  }

  @Test
  void whenNoBackendCanNowWhatAPersonCanDoIsTriedFirst() {
    desk.sessions.failure =
        Optional.of(
            new BackendFailure.Nowhere(
                List.of(
                    new BackendFailure.Refusal(
                        "rack", new BackendFailure.NeverFits("rack", "it has no GPUs", List.of())),
                    new BackendFailure.Refusal(
                        "hpc", new MachineFailure.NeedsYou("login1", "hpc", "password")))));

    desk.expect(
        """
        $ gpush up --gpus 8
        2> gpush: no backend can grant this now
        2>   because rack: it has no GPUs
        2>     hpc: login1 needs you to log in; nothing is lost: only you can give what it asks for: password
        2>   try: gpush login hpc
        ? 1
        """);
  }

  @Test
  void aLookAtTheEndEndsNothing() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.ending =
        new Sessions.Ending(
            List.of(new Sessions.Ending.Going(7, "run 7 (train.py, 2 ranks, 3m)")),
            Optional.of("3 files, 14 GB, exist only on the nodes of devbox and would be lost"));

    desk.expect(
        """
        $ gpush down --dry-run
        devbox would give back 2 cpu nodes on local
          would stop run 7 (train.py, 2 ranks, 3m)
          would ask first: 3 files, 14 GB, exist only on the nodes of devbox and would be lost
        """);
    assertEquals(List.of(), desk.sessions.calls);
    assertTrue(desk.sessions.all.containsKey("devbox"));
  }
}
