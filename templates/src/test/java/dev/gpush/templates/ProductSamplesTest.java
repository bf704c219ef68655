package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Config.Unsupported;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The sample files that users were promised, as they were promised: they load, and what they have
 * of features that do not exist yet is named.
 */
final class ProductSamplesTest {
  @TempDir private Path folder;

  private Config load(String project) throws IOException {
    return Folders.in(folder)
        .with("gpush.yaml", sample(project + "/gpush.yaml"))
        .with("config.yaml", sample("config.yaml"))
        .load();
  }

  private static byte[] sample(String name) throws IOException {
    try (InputStream in = ProductSamplesTest.class.getResourceAsStream("product/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  private static List<String> lines(List<Unsupported> keys) {
    return keys.stream().map(key -> key.origin() + " " + key.key() + ": " + key.effect()).toList();
  }

  @Test
  void theProjectOfASlurmUserLoadsAsItIs() throws IOException {
    Config config = load("slurm");

    assertEquals(List.of("hpc"), config.order());
    assertEquals("A100:4", config.text("gpus").orElseThrow());
    assertEquals(43_200, config.number("lease.for").orElseThrow());
    assertEquals("llm", config.text("python.conda").orElseThrow());
    assertEquals("[\"cuda/12.4\"]", config.value("python.modules").orElseThrow().write());
    assertEquals("USR1@600", config.text("run.warn").orElseThrow());
    assertEquals(30L, config.number("run.grace").orElseThrow());
    assertEquals("/scratch/$USER/runs", config.text("outputs").orElseThrow());
    assertEquals(
        Map.of("data", "/scratch/$USER/c4"), config.value("mounts").orElseThrow().textMap());
    assertEquals(
        List.of(
            "gpush.yaml:8 lease.at-end: the session ends with its lease, and no successor is"
                + " submitted",
            "gpush.yaml:9 run.resume: no run is resumed after a lease has ended"),
        lines(config.unsupported()));
  }

  @Test
  void theProjectOfAKubernetesUserLoadsAsItIs() throws IOException {
    Config config = load("kubernetes");

    assertEquals(List.of("hpc", "cw", "rack"), config.order());
    assertEquals("ghcr.io/acme/train:2026-11", config.text("image").orElseThrow());
    assertEquals("uv pip install -e .", config.text("setup.run").orElseThrow());
    assertEquals("pvc/shared/runs/{user}", config.text("outputs").orElseThrow());
    assertEquals("pvc/home-{user}", config.text("home").orElseThrow());
    assertEquals(Map.of("data", "pvc/datasets:ro"), config.value("mounts").orElseThrow().textMap());
    assertEquals(
        List.of("gpush.yaml:9 secrets: no secret reaches the nodes"), lines(config.unsupported()));
  }

  @Test
  void thePlacesLoadAsTheyAre() throws IOException {
    Config config = load("slurm");

    assertEquals(
        List.of("hpc slurm", "cw kubernetes", "rack ssh", "here local", "local local"),
        config.backends().stream().map(block -> block.name() + " " + block.kind()).toList());
    BackendConfig hpc = config.backends().getFirst();
    assertEquals(List.of("gpu", "gpu-long"), hpc.values().texts("partition"));
    assertEquals(28_800, hpc.values().object("time").number("default").orElseThrow());
    assertEquals(
        "a100_80gb", hpc.values().object("gpus").object("names").text("A100").orElseThrow());
  }

  @Test
  void aPatchOfPodsIsBesideTheFileThatNamesIt() throws IOException {
    BackendConfig cw = load("kubernetes").backends().get(1);

    assertEquals(
        folder.resolve("home/pod.yaml").toString(),
        cw.values().object("pod").text("patch").orElseThrow());
  }
}
