package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.config.TaskFile;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.failure.UsageFailure.BadLine;
import dev.gpush.core.gang.GpuRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SkyTaskTest {
  private static TaskFile read(String text) {
    return SkyTask.read("t.sky.yaml", text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<BadLine> bad(String text) {
    var failed = assertThrows(GpushException.class, () -> read(text));
    return ((UsageFailure.BadCommands) failed.failure()).lines();
  }

  @Test
  void readsATask() {
    TaskFile task =
        read(
            """
            name: train
            workdir: .
            num_nodes: 2
            resources:
              infra: aws
              accelerators: H100:8
              ports: 8080
            envs:
              LR: 3e-4
              HF_TOKEN:
            setup: pip install -r requirements.txt
            run: |
              head=$(echo "$SKYPILOT_NODE_IPS" | head -n1)
              torchrun --nnodes=$SKYPILOT_NUM_NODES train.py
            """);

    assertEquals(Optional.of(2), task.nodes());
    assertEquals(Optional.of(GpuRequest.parse("H100:8")), task.gpus());
    assertEquals(Map.of("LR", "3e-4"), task.variables());
    assertEquals(
        Map.of("HF_TOKEN", new BadLine(10, "HF_TOKEN has no value; give it with --env HF_TOKEN")),
        task.missing());
    assertEquals(
        List.of(
            "t.sky.yaml",
            "pip install -r requirements.txt",
            "head=$(echo \"$SKYPILOT_NODE_IPS\" | head -n1)\n"
                + "torchrun --nnodes=$SKYPILOT_NUM_NODES train.py\n"),
        task.words().subList(3, 6));
    assertEquals(
        List.of(
            "resources.infra (sessions come from gpush's backends)",
            "resources.ports (ssh -L forwards a port of a node)"),
        task.unused());
  }

  @Test
  void aKindOfGpuMayBeAKey() {
    assertEquals(
        Optional.of(GpuRequest.parse("A100:4")),
        read("resources: {accelerators: {A100: 4}}\nrun: nvidia-smi\n").gpus());
  }

  @Test
  void namesEveryLineThatCannotBe() {
    assertEquals(
        List.of(
            new BadLine(1, "num_nodes must be between 1 and 256, not many"),
            new BadLine(3, "resources.any_of is not possible here: a session has one kind of node"),
            new BadLine(5, "resources has no key acelerators"),
            new BadLine(
                6,
                "file_mounts is not possible here: data and files from elsewhere are not mounted;"
                    + " only the workspace is on the nodes"),
            new BadLine(8, "run must be a text"),
            new BadLine(9, "a task has no key comand")),
        bad(
            """
            num_nodes: many
            resources:
              any_of:
                - infra: aws
              acelerators: H100
            file_mounts:
              /data: s3://bucket
            run: [a, b]
            comand: x
            """));
  }

  @Test
  void aFileWithoutACommandOrYamlIsRefused() {
    assertEquals(
        List.of(new BadLine(1, "it has no run:, so there is nothing to run")), bad("name: x\n"));
    assertEquals(2, bad("run: x\n\tsetup: y\n").getFirst().line());
    assertEquals(
        List.of(
            new BadLine(
                1,
                "accelerators cannot be 'H100:0'; it must be MODEL:COUNT with a COUNT of 1 or more; 0"
                    + " alone means no GPUs")),
        bad("resources: {accelerators: 'H100:0'}\nrun: x\n"));
    assertEquals(
        List.of(new BadLine(1, "accelerators: a session has one kind of GPU, so name one")),
        bad("resources: {accelerators: [H100, A100]}\nrun: x\n"));
  }

  @Test
  void theNodesRunSetupAndThenRunWithSkyPilotsVariables() throws Exception {
    assertEquals(
        "setup 1\n1 of 2, 8 GPUs, 10.0.0.1 10.0.0.2\n0",
        bash(
            """
            setup: echo "setup $SKYPILOT_SETUP_NODE_RANK"
            run: |
              echo "$SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES, $SKYPILOT_NUM_GPUS_PER_NODE GPUs," $SKYPILOT_NODE_IPS
            """));
    assertEquals("3", bash("setup: exit 3\nrun: echo never\n"));
    assertEquals("4", bash("run: exit 4\n"));
  }

  /** Output and exit status. */
  private static String bash(String text) throws IOException, InterruptedException {
    var builder = new ProcessBuilder(read(text).words()).redirectErrorStream(true);
    builder
        .environment()
        .putAll(
            Map.of(
                "GPUSH_NODE", "1",
                "GPUSH_NODES", "2",
                "GPUSH_NODE_ADDRS", "10.0.0.1,10.0.0.2",
                "GPUSH_RUN", "7",
                "CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return output + process.waitFor();
  }
}
