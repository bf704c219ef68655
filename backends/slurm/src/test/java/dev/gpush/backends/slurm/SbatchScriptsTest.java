package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.BatchHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SbatchScriptsTest {
  private static BatchHeaders read(String... headers) {
    return new SbatchScripts()
        .read("job.sbatch", "#!/bin/bash\n" + String.join("\n", headers) + "\n");
  }

  private static List<String> bad(String... headers) {
    GpushException thrown = assertThrows(GpushException.class, () -> read(headers));
    var script = assertInstanceOf(UsageFailure.BadScript.class, thrown.failure());
    return script.lines().stream().map(line -> line.line() + ": " + line.what()).toList();
  }

  @Test
  void aUsualScriptBecomesARequest() {
    BatchHeaders headers =
        read(
            "#SBATCH --job-name=llama   # what squeue shows",
            "#SBATCH -N 2 --gres=gpu:h100:8",
            "#SBATCH --ntasks-per-node=8 --cpus-per-task=12",
            "#SBATCH -t 1-12:00:00",
            "#SBATCH -p gpu,gpu-long -A 'lab smith'",
            "#SBATCH --constraint=\"ib&nvme\" --exclude=gpu[07-09]",
            "#SBATCH --output=logs/%j.out --mem=0 --exclusive",
            "",
            "srun python train.py",
            "#SBATCH --nodes=9");

    assertEquals("--nodes 2 --gpus h100:8 --for 1d12h", headers.words());
    assertEquals(
        List.of(
            "--time=2160",
            "--cpus-per-task=96",
            "--partition=gpu,gpu-long",
            "--account=lab smith",
            "--constraint=ib&nvme",
            "--exclude=gpu[07-09]",
            "--mem=0",
            "--exclusive"),
        headers.natives());
    assertEquals(
        List.of(
            "job.sbatch:11 comes after the first command, where sbatch stops reading",
            "--job-name=llama (the job has the gang's name; a session is named by -s)",
            "--output=logs/%j.out (gpush logs has the output of runs)"),
        headers.unused());
  }

  @ParameterizedTest
  @CsvSource({
    "--gpus-per-node=8, 8",
    "--gpus-per-node=a100:4, a100:4",
    "--gpus-per-node a100:4, a100:4",
    "--gres=gpu, 1",
    "--gres=gpu:2, 2",
    "--gres=gpu:h100:2(S:0-1), h100:2",
    "-N2 -G h100:16, h100:8",
    "-N2 --gpus=4, 2",
    "--ntasks-per-node=4 --gpus-per-task=2, 8",
    "-N2 -n8 --gpus-per-task=h100:1, h100:4",
  })
  void gpusArePerNode(String header, String gpus) {
    assertEquals(Optional.of(GpuRequest.parse(gpus)), read("#SBATCH " + header).gpus());
  }

  @ParameterizedTest
  @CsvSource({
    "30, 30m",
    "30:30, 31m",
    "8:00:00, 8h",
    "2-0, 2d",
    "1-12, 1d12h",
    "1-12:30, 2190m",
    "0-00:00:01, 1m",
  })
  void timesAreReadAsSlurmDoes(String time, String limit) {
    Duration minutes = dev.gpush.core.task.DurationText.parse("limit", limit);

    assertEquals(
        List.of("--time=" + minutes.toMinutes()), read("#SBATCH --time=" + time).natives());
  }

  @Test
  void whatIsNoGpuStaysSlurms() {
    BatchHeaders headers = read("#SBATCH --gres=gpu:h100:8,nvme:1");

    assertEquals(Optional.of(GpuRequest.parse("h100:8")), headers.gpus());
    assertEquals(List.of("--gres=nvme:1"), headers.natives());
  }

  @Test
  void nodesComeFromTasksWhereNobodySaysThem() {
    assertEquals(Optional.of(4), read("#SBATCH -n 32 --ntasks-per-node 8").nodes());
    assertEquals(Optional.empty(), read("#SBATCH -t 30").nodes());
  }

  @Test
  void everyBadLineIsNamed() {
    assertEquals(
        List.of(
            "2: a quote is not closed",
            "3: 'train.py' is not an option",
            "4: sbatch has no option -Z",
            "5: a heterogeneous job cannot be a gang",
            "7: --nodes cannot be 'two'; it must be a number from 1 to 256, or a range",
            "6: --gpus-per-node cannot be '8x'; it must be a number, or a type and a number:"
                + " h100:8",
            "8: --time cannot be 'soon'; it must be minutes, H:M:S, D-H or D-H:M:S"),
        bad(
            "#SBATCH --comment=\"open",
            "#SBATCH train.py",
            "#SBATCH -Z",
            "#SBATCH hetjob",
            "#SBATCH --gpus-per-node=8x",
            "#SBATCH --nodes=two",
            "#SBATCH --time=soon"));
  }

  @Test
  void aBackslashAtTheEndIsNoOpenQuote() {
    assertEquals(
        List.of(
            "2: it ends with a backslash", "3: a quote is not closed", "4: a quote is not closed"),
        bad("#SBATCH --comment=a\\", "#SBATCH --comment=\"a\\", "#SBATCH --comment='a\\"));
  }

  @Test
  void aScriptWithoutHeadersIsNone() {
    assertEquals(
        List.of("1: it has no line that starts with #SBATCH"), bad("##SBATCH -N2", "# SBATCH -N2"));
  }

  @Test
  void unevenGpusAreNoGang() {
    assertTrue(bad("#SBATCH -N3 -G 16").getFirst().contains("a multiple of the 3 nodes"));
  }

  @Test
  void whateverIsInItIsReadOrRefused() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("SbatchScriptsTest seed " + seed + " (-Dgpush.seed)");
    var random = new Random(seed);
    String letters = " -=:,#'\"\\NnGtpx0123456789\t\nSBATCH#gpu";
    for (int round = 0; round < 2000; round++) {
      var text = new StringBuilder("#SBATCH ");
      for (int length = random.nextInt(60); length > 0; length--) {
        text.append(letters.charAt(random.nextInt(letters.length())));
      }
      try {
        BatchHeaders headers = new SbatchScripts().read("job", text.toString());
        headers.nodes().ifPresent(nodes -> assertTrue(nodes >= 1));
      } catch (GpushException refused) {
        assertInstanceOf(UsageFailure.BadScript.class, refused.failure(), () -> "seed " + seed);
      }
    }
  }
}
