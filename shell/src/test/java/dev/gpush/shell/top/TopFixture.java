package dev.gpush.shell.top;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Nodes as their agents describe them. */
public final class TopFixture {
  static final Instant NOW = Instant.parse("2026-11-27T10:00:00Z");
  private static final long GIB = 1L << 30;

  private TopFixture() {}

  /** Two nodes of four GPUs, of which one node's third is slow and another one hot. */
  static TopPicture gang() {
    var nodes = new ArrayList<NodeReading>();
    for (int node = 0; node < 2; node++) {
      var gpus = new ArrayList<Json>();
      var ranks = new ArrayList<Json>();
      for (int gpu = 0; gpu < 4; gpu++) {
        boolean isSlow = node == 1 && gpu == 2;
        List<String> throttled =
            node == 0 && gpu == 1 ? List.of("hw-thermal") : List.of(isSlow ? "idle" : "power-cap");
        gpus.add(gpu("" + gpu, isSlow ? 12 : 98, 70 + gpu, 600 + gpu, throttled));
        ranks.add(rank(4 * node + gpu, isSlow ? "S" : "R", isSlow ? 3.0 : 99.5));
      }
      nodes.add(reading(node, Optional.of(node(gpus, ranks)), Duration.ofMillis(300), "up", ""));
    }
    return new TopPicture("devbox  2×4 H100", Duration.ofSeconds(1), NOW, nodes, List.of(run()));
  }

  public static RunView run() {
    List<String> slots = IntStream.range(0, 8).mapToObj(at -> at / 4 + ":" + at % 4).toList();
    return new RunView(
        7,
        "devbox",
        RunKind.PROGRAM,
        RunView.Progress.starting(NOW.minus(Duration.ofMinutes(130))).in(RunView.State.RUNNING),
        new RunView.Launched(
            List.of("train.py", "--lr", "3e-4"),
            8,
            slots,
            42,
            "torchrun",
            "/usr/bin/python3",
            false),
        "run 7");
  }

  public static NodeReading reading(
      int node, Optional<Json> said, Duration age, String link, String problem) {
    var info =
        new NodeInfo(
            node, "gpu0" + node, "10.0.0." + node, List.of("0", "1", "2", "3"), "H100", 96, "/w");
    return new NodeReading(info, link, said.map(NodeSample::from), said.map(_ -> age), problem);
  }

  public static Json node(List<Json> gpus, List<Json> ranks) {
    return node(gpus, ranks, new Json.Null());
  }

  /** A run's newest step; a rate of zero is not known. */
  public static Json progress(int step, double age, double rate, double median, Object slow) {
    return Json.object(
        "rank", 0,
        "step", step,
        "total", 5000,
        "epoch", new Json.Null(),
        "age_s", age,
        "rate", rate,
        "median", median,
        "slow_s", slow);
  }

  public static Json node(List<Json> gpus, List<Json> ranks, Json progress) {
    return Json.object(
        "n", 2,
        "cost_ms", 1.5,
        "cpu", Json.object("percent", 34.4, "count", 96, "load", 31.5),
        "memory", Json.object("total", 1007 * GIB, "used", 212 * GIB),
        "disk", Json.object("total", 3000 * GIB, "free", 1200 * GIB),
        "net", List.of(Json.object("name", "eth0", "in", 1_200_000, "out", 300_000)),
        "rdma",
            List.of(
                Json.object(
                    "name",
                    "mlx5_0:1",
                    "in",
                    24_100_000_000L,
                    "out",
                    24_000_000_000L,
                    "gbits",
                    400.0)),
        "gpus", gpus,
        "runs", List.of(Json.object("run", 7, "ranks", ranks, "progress", progress)));
  }

  public static Json gpu(String slot, int util, int celsius, int watts, List<String> throttled) {
    return Json.object(
        "gpu",
        slot,
        "name",
        "NVIDIA H100 80GB HBM3",
        "util",
        util,
        "memory_used",
        71 * GIB,
        "memory_total",
        80 * GIB,
        "power_w",
        watts + 0.3,
        "power_limit_w",
        700.0,
        "temperature",
        celsius,
        "sm_mhz",
        1980,
        "memory_mhz",
        2619,
        "throttled",
        throttled);
  }

  public static Json rank(int rank, String state, double cpu) {
    return Json.object(
        "rank", rank, "pid", 4000 + rank, "state", state, "cpu", cpu, "memory", 3 * GIB);
  }
}
