package dev.gpush.shell.render;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.GpuSample;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.RunProgress;
import dev.gpush.shell.top.Standouts;
import dev.gpush.shell.top.Standouts.Standout;
import dev.gpush.shell.top.TopPicture;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What {@code gpush top --json} prints; promised as {@link Documents} are. */
public final class SampleDocuments {
  private SampleDocuments() {}

  public static Json.Obj picture(String session, TopPicture picture) {
    return Json.object(
        "session", session,
        "at", picture.now().toString(),
        "nodes", picture.nodes().stream().map(each -> node(each, picture)).toList(),
        "runs", picture.runs().stream().map(each -> run(each, picture)).toList(),
        "stands_out", Standouts.of(picture).stream().map(SampleDocuments::standout).toList());
  }

  private static Json.Obj run(RunView run, TopPicture picture) {
    return Json.object(
        "run", run.number(),
        "ranks", run.ranks(),
        "progress", picture.progress(run.number()).map(SampleDocuments::progress));
  }

  static Json.Obj progress(RunProgress progress) {
    RunProgress.Step step = progress.step();
    RunProgress.Pace pace = progress.pace();
    return Json.object(
        "rank", step.rank(),
        "step", step.number(),
        "total", step.total(),
        "epoch", step.epoch(),
        "age_s", step.age().toMillis() / 1000.0,
        "rate", pace.rate(),
        "median", pace.median(),
        "slow_s", pace.slow().map(Duration::toSeconds));
  }

  private static Json.Obj standout(Standout each) {
    return Json.object(
        "node", each.node(),
        "gpu", each.gpu(),
        "rank", each.rank(),
        "what", each.what());
  }

  private static Json.Obj node(NodeReading reading, TopPicture picture) {
    Optional<NodeSample> sample = reading.sample();
    Optional<NodeSample.Host> host = sample.map(NodeSample::host);
    return Json.object(
        "node", reading.node().index(),
        "host", reading.node().host(),
        "link", reading.link(),
        "age_s", reading.age().map(age -> age.toMillis() / 1000.0),
        "problem", Documents.text(reading.problem()),
        "cpus", host.map(NodeSample.Host::cpus),
        "cpu_percent", host.flatMap(NodeSample.Host::cpuPercent),
        "load", host.flatMap(NodeSample.Host::load),
        "memory_used", host.flatMap(each -> each.memory().used()),
        "memory_total", host.flatMap(each -> each.memory().total()),
        "disk_free", host.flatMap(each -> each.disk().free()),
        "disk_total", host.flatMap(each -> each.disk().total()),
        "network", devices(sample.map(each -> each.network().interfaces())),
        "rdma", devices(sample.map(each -> each.network().rdma())),
        "gpus",
            sample.stream()
                .flatMap(each -> each.gpus().all().stream())
                .map(gpu -> gpu(gpu, picture.runOn(reading.node().index(), gpu.slot())))
                .toList(),
        "gpu_problem", sample.flatMap(each -> Documents.text(each.gpus().problem())),
        "ranks",
            sample.stream()
                .flatMap(each -> each.ranks().stream())
                .map(SampleDocuments::rank)
                .toList(),
        "sample_cost_ms", sample.flatMap(NodeSample::costMillis));
  }

  private static List<Json.Obj> devices(Optional<List<NodeSample.DeviceRate>> devices) {
    return devices.orElse(List.of()).stream()
        .map(
            each ->
                Json.object(
                    "device", each.device(),
                    "in", each.in(),
                    "out", each.out(),
                    "gbits", each.gbits()))
        .toList();
  }

  private static Json.Obj gpu(GpuSample gpu, Optional<Integer> run) {
    return Json.object(
        "gpu", gpu.slot(),
        "model", Documents.text(gpu.model()),
        "run", run,
        "util_percent", gpu.percent(),
        "memory_used", gpu.memory().used(),
        "memory_total", gpu.memory().total(),
        "power_w", gpu.power().watts(),
        "power_limit_w", gpu.power().limitWatts(),
        "temperature_c", gpu.power().celsius(),
        "sm_mhz", gpu.clocks().smMhz(),
        "memory_mhz", gpu.clocks().memoryMhz(),
        "throttled", gpu.clocks().throttled(),
        "problem", Documents.text(gpu.problem()));
  }

  private static Json.Obj rank(NodeSample.RankSample rank) {
    return Json.object(
        "run", rank.run(),
        "rank", rank.rank(),
        "pid", rank.pid(),
        "state", rank.state(),
        "cpu_percent", rank.cpuPercent(),
        "memory", rank.bytes());
  }
}
