package dev.gpush.shell.top;

import dev.gpush.core.sample.GpuSample;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.NodeSample.DeviceRate;
import dev.gpush.core.sample.NodeSample.RankSample;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.top.ScreenLine.Style;
import java.util.List;
import java.util.Optional;

/** What is shown of one node only when it is opened. */
final class NodeDetail {
  private NodeDetail() {}

  /** As the kernel's letters mean; a rank that waits for its GPU sleeps or computes. */
  static String stateWord(String letter) {
    return switch (letter) {
      case "R" -> "computing";
      case "S", "I" -> "waiting";
      case "D" -> "on disk";
      case "T", "t" -> "stopped";
      default -> "ended";
    };
  }

  static void host(NodeSample now, List<ScreenLine> lines) {
    NodeSample.Host host = now.host();
    lines.add(
        ScreenLine.plain(
            "cpu "
                + Figures.percent(host.cpuPercent())
                + " of "
                + host.cpus()
                + ", load "
                + host.load().map(load -> "" + load).orElse(Figures.NONE)
                + "  memory "
                + Figures.amount(host.memory())));
    lines.add(
        ScreenLine.plain(
            "workspace: "
                + Figures.memory(host.disk().free())
                + " free of "
                + Figures.memory(host.disk().total())));
    now.gpus().all().stream()
        .map(GpuSample::model)
        .filter(model -> !model.isEmpty())
        .distinct()
        .forEach(model -> lines.add(ScreenLine.plain("gpu: " + Clean.line(model))));
    if (!now.gpus().problem().isEmpty()) {
      lines.add(ScreenLine.plain("gpus: " + Clean.line(now.gpus().problem())));
    }
  }

  static Grid devices(Optional<NodeSample> sample) {
    var devices =
        new Grid(
            Grid.Column.text("DEVICE", 0),
            Grid.Column.number("IN", 0),
            Grid.Column.number("OUT", 0),
            Grid.Column.number("PORT", 1));
    sample.ifPresent(
        now -> {
          now.network().rdma().forEach(device -> add(devices, device));
          now.network().interfaces().forEach(device -> add(devices, device));
        });
    return devices;
  }

  static Grid ranks(Optional<NodeSample> sample) {
    var ranks =
        new Grid(
            Grid.Column.number("RUN", 0),
            Grid.Column.number("RANK", 0),
            Grid.Column.text("PROCESS", 0),
            Grid.Column.number("CPU", 0),
            Grid.Column.number("MEMORY", 1),
            Grid.Column.number("PID", 2));
    sample.ifPresent(now -> now.ranks().forEach(rank -> add(ranks, rank)));
    return ranks;
  }

  private static void add(Grid devices, DeviceRate device) {
    devices.row(
        0,
        Style.PLAIN,
        device.device(),
        Figures.rate(device.in()),
        Figures.rate(device.out()),
        Figures.whole(device.gbits(), "G"));
  }

  private static void add(Grid ranks, RankSample rank) {
    ranks.row(
        0,
        Style.PLAIN,
        "" + rank.run(),
        rank.rank().map(number -> "" + number).orElse(Figures.NONE),
        stateWord(rank.state()),
        Figures.percent(rank.cpuPercent()),
        Figures.memory(rank.bytes()),
        "" + rank.pid());
  }
}
