package dev.gpush.core.sample;

import dev.gpush.core.json.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a node does, as its agent has seen it. What the agent cannot know is empty; so are rates in
 * the first sample, because they need two.
 *
 * @param progress of runs that print steps, by their number
 * @param costMillis the processor time that the sample before this one took
 */
public record NodeSample(
    Host host,
    Network network,
    Gpus gpus,
    List<RankSample> ranks,
    Map<Integer, RunProgress> progress,
    Optional<Double> costMillis) {
  /** More of one kind is not shown by anyone. */
  private static final int MOST = 512;

  public NodeSample {
    ranks = List.copyOf(ranks);
    progress = Map.copyOf(progress);
  }

  /**
   * The machine, with all that others do on it.
   *
   * @param cpuPercent of all its processors
   * @param disk of the workspace
   */
  public record Host(
      Optional<Double> cpuPercent, int cpus, Optional<Double> load, Amount memory, Amount disk) {}

  /** Bytes. */
  public record Amount(Optional<Long> used, Optional<Long> total) {
    static Amount from(Json said, String used, String total) {
      return new Amount(said.number(used), said.number(total));
    }

    public Optional<Long> free() {
      return total.flatMap(all -> used.map(taken -> all - taken));
    }
  }

  /** What its network cards carry. */
  public record Network(List<DeviceRate> interfaces, List<DeviceRate> rdma) {
    public Network {
      interfaces = List.copyOf(interfaces);
      rdma = List.copyOf(rdma);
    }
  }

  /**
   * Bytes a second.
   *
   * @param gbits what the port can carry
   */
  public record DeviceRate(
      String device, Optional<Long> in, Optional<Long> out, Optional<Double> gbits) {}

  /**
   * @param problem why there are none; empty when there is no reason
   */
  public record Gpus(List<GpuSample> all, String problem) {
    public Gpus {
      all = List.copyOf(all);
    }
  }

  /**
   * The process of a rank.
   *
   * @param rank empty of a process that is no rank
   * @param state the kernel's letter, or {@code ended}
   * @param cpuPercent of one processor
   */
  public record RankSample(
      int run,
      Optional<Integer> rank,
      long pid,
      String state,
      Optional<Double> cpuPercent,
      Optional<Long> bytes) {}

  /** Of a line of the builtin {@code sample} (docs/technical/top.md). */
  public static NodeSample from(Json said) {
    Json.Obj cpu = said.object("cpu");
    Json.Obj disk = said.object("disk");
    Optional<Long> total = disk.number("total");
    Host host =
        new Host(
            cpu.real("percent"),
            cpu.integer("count").orElse(0),
            cpu.real("load"),
            Amount.from(said.object("memory"), "used", "total"),
            new Amount(total.flatMap(all -> disk.number("free").map(free -> all - free)), total));
    return new NodeSample(
        host,
        new Network(rates(said, "net"), rates(said, "rdma")),
        new Gpus(
            said.items("gpus").stream().limit(MOST).map(GpuSample::from).toList(),
            said.text("gpu_problem").orElse("")),
        said.items("runs").stream()
            .flatMap(run -> run.items("ranks").stream().map(rank -> rank(run, rank)))
            .limit(MOST)
            .toList(),
        progress(said),
        said.real("cost_ms"));
  }

  private static Map<Integer, RunProgress> progress(Json said) {
    var found = new HashMap<Integer, RunProgress>();
    for (Json run : said.items("runs").stream().limit(MOST).toList()) {
      RunProgress.from(run)
          .ifPresent(progress -> found.put(run.integer("run").orElse(0), progress));
    }
    return found;
  }

  private static List<DeviceRate> rates(Json said, String key) {
    return said.items(key).stream()
        .limit(MOST)
        .map(
            each ->
                new DeviceRate(
                    each.text("name").orElse(""),
                    each.number("in"),
                    each.number("out"),
                    each.real("gbits")))
        .toList();
  }

  private static RankSample rank(Json run, Json rank) {
    return new RankSample(
        run.integer("run").orElse(0),
        rank.integer("rank"),
        rank.number("pid").orElse(0L),
        rank.text("state").orElse(""),
        rank.real("cpu"),
        rank.number("memory"));
  }
}
