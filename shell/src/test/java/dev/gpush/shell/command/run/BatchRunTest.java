package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.session.BatchHeaders;
import dev.gpush.shell.command.Desk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code gpush run} of a batch script. */
final class BatchRunTest {
  private final Desk desk = new Desk();

  @Test
  void aBatchScriptSaysWhatTheRunClaims(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("job.sbatch"), "#!/bin/bash\n");
    desk.folder = folder;
    desk.sessions.add("devbox", folder, 4, new GpuRequest(Optional.of("H100"), 8));
    desk.headers =
        new BatchHeaders(
            Optional.of(4),
            Optional.of(GpuRequest.parse("2")),
            Optional.of(Duration.ofHours(8)),
            Optional.of(2),
            List.of("--partition=gpu", "--time=480"),
            List.of("--output=x (gpush logs has the output of runs)"));

    desk.expect(
        """
        $ gpush run --nodes 2 job.sbatch 7
        2> job.sbatch: --nodes 4 --gpus 2 --for 8h; for Slurm: --partition=gpu
        2> not used: --output=x (gpush logs has the output of runs)
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        """);

    RunRequest request = desk.runs.launched.getFirst();
    assertEquals(List.of("job.sbatch", "7"), request.command().words());
    assertEquals(Optional.of(2), request.claim().nodes());
    assertEquals(Optional.of(GpuRequest.parse("2")), request.claim().gpus());
    assertEquals(Optional.of(2), request.ranks().perNode());
    RunTarget target = desk.runs.targets.getFirst();
    assertEquals(List.of("--partition=gpu", "--time=480"), target.natives());
    assertEquals(Optional.of(Duration.ofHours(8)), target.hardEnd());
  }

  @Test
  void aBatchScriptIsKnownByItsHeaders(@TempDir Path folder) throws Exception {
    Files.writeString(folder.resolve("job.slurm"), "#!/bin/bash\n\n#SBATCH --nodes=2\nsrun x\n");
    Files.writeString(folder.resolve("plain.sh"), "#!/bin/bash\nsrun x\n#SBATCH --nodes=2\n");
    Files.writeString(folder.resolve("train.py"), "#!/usr/bin/env python3\n#SBATCH --nodes=2\n");
    desk.folder = folder;
    desk.sessions.add("devbox", folder, 2, GpuRequest.none());

    assertEquals(0, desk.call(desk.client("gpush run -q job.slurm 7")));
    assertEquals(0, desk.call(desk.client("gpush run -q plain.sh")));
    assertEquals(0, desk.call(desk.client("gpush run -q train.py")));

    assertEquals(
        List.of(
            List.of("--launcher", "sbatch", "job.slurm", "7"),
            List.of("plain.sh"),
            List.of("train.py")),
        desk.runs.launched.stream().map(request -> request.command().words()).toList());
    assertEquals(Optional.of(1), desk.runs.launched.getFirst().ranks().perNode());
  }
}
