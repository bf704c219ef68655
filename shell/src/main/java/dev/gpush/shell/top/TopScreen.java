package dev.gpush.shell.top;

import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.GpuSample;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.NodeSample.DeviceRate;
import dev.gpush.core.sample.NodeSample.RankSample;
import dev.gpush.core.sample.RunProgress;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Width;
import dev.gpush.shell.top.ScreenLine.Style;
import dev.gpush.shell.top.Standouts.Standout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedSet;
import java.util.function.Function;

/**
 * The screen: what stands out first, then runs, nodes and GPUs, as far as there is room; or one
 * node in detail. A pure function of the picture, the view and the size.
 */
public final class TopScreen {
  private static final int MOST_STANDOUTS = 3;

  /** A smaller window has no room for runs. */
  private static final int ROOM_FOR_RUNS = 8;

  /** A smaller window has no room for more than one that stands out. */
  private static final int TALL = 20;

  private final TopPicture picture;
  private final TopView view;
  private final List<Standout> standouts;

  private TopScreen(TopPicture picture, TopView view) {
    this.picture = picture;
    this.view = view;
    this.standouts = Standouts.of(picture);
  }

  /** No more lines than rows, and none wider than the columns. */
  public static List<ScreenLine> lines(TopPicture picture, TopView view, int columns, int rows) {
    return new TopScreen(picture, view).lines(columns, rows);
  }

  /** Everything, however long: for output that is no screen. */
  public static List<ScreenLine> all(TopPicture picture, TopView view, int columns) {
    var screen = new TopScreen(picture, view);
    int width = columns == 0 ? Integer.MAX_VALUE : columns;
    var lines = new ArrayList<ScreenLine>();
    if (view.opened().isPresent()) {
      return screen.detail(width);
    }
    screen.standouts.forEach(each -> lines.add(screen.alarm(each, width)));
    for (Grid grid : List.of(screen.runs(), screen.nodes(false), screen.gpus())) {
      if (!grid.isEmpty()) {
        lines.addAll(grid.lines(width));
      }
    }
    return lines;
  }

  /** The nodes in the order of the screen. */
  static List<Integer> order(TopPicture picture, TopView view) {
    return new TopScreen(picture, view)
        .shown().stream().map(reading -> reading.node().index()).toList();
  }

  /** How far a detail can be scrolled. */
  static int mostScroll(TopPicture picture, TopView view, int columns, int rows) {
    return view.opened().isEmpty()
        ? 0
        : Math.max(0, new TopScreen(picture, view).detail(columns).size() - bodyRows(rows));
  }

  private static int bodyRows(int rows) {
    return Math.max(1, rows - 2);
  }

  private List<ScreenLine> lines(int columns, int rows) {
    var lines = new ArrayList<ScreenLine>();
    lines.add(new ScreenLine(Width.cut(title(), columns), Style.HEADING));
    int room = bodyRows(rows);
    if (view.opened().isPresent()) {
      List<ScreenLine> detail = detail(columns);
      int from = Math.clamp(view.scroll(), 0, Math.max(0, detail.size() - room));
      lines.addAll(detail.subList(from, Math.min(detail.size(), from + room)));
    } else {
      overview(columns, room, lines);
    }
    while (lines.size() < rows - 1) {
      lines.add(ScreenLine.plain(""));
    }
    lines.add(new ScreenLine(Width.cut(footer(columns), columns), Style.HEADING));
    return lines.subList(0, Math.min(lines.size(), rows));
  }

  private String title() {
    String filter = view.shownFilter();
    return Clean.line(picture.title())
        + " · every "
        + DurationText.of(picture.interval())
        + (view.sort() == TopView.Sort.NODE ? "" : " · by " + view.sort().word())
        + (filter.isEmpty() ? "" : " · /" + Clean.line(filter));
  }

  private String footer(int columns) {
    if (view.typing().isPresent()) {
      TopView.Typing typing = view.typing().get();
      return (typing.isFilter() ? "/" : "node ") + Clean.line(typing.text()) + "▏";
    }
    if (view.opened().isPresent()) {
      return "esc back  ↑↓ scroll  q quit";
    }
    String keys = "q quit  s sort  / filter  ↑↓ enter";
    String all = keys + " or number: node";
    return Width.of(all) <= columns ? all : keys + ": node";
  }

  private void overview(int columns, int room, List<ScreenLine> lines) {
    int left = room;
    int most = room < TALL ? 1 : MOST_STANDOUTS;
    for (Standout each : standouts.subList(0, Math.min(standouts.size(), most))) {
      lines.add(alarm(each, columns));
      left--;
    }
    if (standouts.size() > most) {
      int more = standouts.size() - most;
      ScreenLine last = lines.removeLast();
      String text = Width.cut(last.text(), columns - 10) + " +" + more + " more";
      lines.add(new ScreenLine(Width.cut(text, columns), last.style()));
    }
    Grid runs = runs();
    if (!runs.isEmpty() && left >= ROOM_FOR_RUNS) {
      left -= add(runs.lines(columns), 0, Math.max(2, left / 4), columns, lines);
    }
    Grid gpus = gpus();
    List<ScreenLine> rest = new ArrayList<>(gpus.isEmpty() ? List.of() : gpus.lines(columns));
    int forNodes = Math.max(left - rest.size(), rest.isEmpty() ? left : left / 2);
    left -= add(nodes(true).lines(columns), view.cursor(), forNodes, columns, lines);
    if (rest.size() > left) {
      rest.subList(1, rest.size()).sort(Comparator.comparing(line -> line.style() != Style.ALARM));
    }
    add(rest, 0, left, columns, lines);
  }

  /** Adds the heading and as many rows as fit, this one among them; returns how many lines. */
  private static int add(
      List<ScreenLine> block, int row, int room, int columns, List<ScreenLine> lines) {
    if (room <= 0 || block.isEmpty()) {
      return 0;
    }
    lines.add(block.getFirst());
    List<ScreenLine> rows = block.subList(1, block.size());
    if (rows.size() < room) {
      lines.addAll(rows);
      return rows.size() + 1;
    }
    int count = Math.max(0, room - 2);
    int from = Math.clamp(row - count + 1L, 0, Math.max(0, rows.size() - count));
    lines.addAll(rows.subList(from, from + count));
    if (room > 1) {
      lines.add(ScreenLine.plain(Width.cut("… " + (rows.size() - count) + " more", columns)));
    }
    return room;
  }

  private ScreenLine alarm(Standout each, int columns) {
    return new ScreenLine(Width.cut("! " + each.sentence(), columns), Style.ALARM);
  }

  // ---- what is shown, and in which order

  private List<NodeReading> shown() {
    return picture.nodes().stream()
        .filter(this::isWanted)
        .sorted(Comparator.<NodeReading>comparingDouble(each -> -weight(each)))
        .toList();
  }

  private boolean isWanted(NodeReading reading) {
    return has(words(reading))
        || gpusOf(reading).stream().anyMatch(gpu -> has(words(reading, gpu)));
  }

  private boolean has(String words) {
    return words.toLowerCase(Locale.ROOT).contains(view.shownFilter().toLowerCase(Locale.ROOT));
  }

  private static String words(NodeReading reading) {
    return "node " + reading.node().index() + " " + reading.node().host();
  }

  private String words(NodeReading reading, GpuSample gpu) {
    String run = picture.runOn(reading.node().index(), gpu.slot()).map(n -> " run " + n).orElse("");
    return words(reading)
        + " gpu "
        + gpu.slot()
        + " "
        + gpu.model()
        + run
        + " "
        + note(reading, gpu);
  }

  private double weight(NodeReading reading) {
    List<GpuSample> gpus = gpusOf(reading);
    Optional<NodeSample> sample = fresh(reading);
    return switch (view.sort()) {
      case NODE -> 0;
      case UTIL -> sample.flatMap(each -> each.host().cpuPercent()).orElse(-1.0);
      case MEM -> sample.map(each -> share(each.host().memory())).orElse(-1.0);
      case POWER, TEMP -> gpus.stream().mapToDouble(this::gpuWeight).max().orElse(-1);
    };
  }

  private double gpuWeight(GpuSample gpu) {
    return switch (view.sort()) {
      case NODE -> 0;
      case UTIL -> gpu.percent().map(Integer::doubleValue).orElse(-1.0);
      case MEM -> share(gpu.memory());
      case POWER -> gpu.power().watts().orElse(-1.0);
      case TEMP -> gpu.power().celsius().map(Integer::doubleValue).orElse(-1.0);
    };
  }

  private static double share(NodeSample.Amount amount) {
    double total = amount.total().map(Long::doubleValue).orElse(0.0);
    return total > 0 ? amount.used().map(used -> used / total).orElse(-1.0) : -1;
  }

  private Optional<NodeSample> fresh(NodeReading reading) {
    return reading.sample().filter(_ -> reading.isFresh(picture.oldest()));
  }

  private List<GpuSample> gpusOf(NodeReading reading) {
    return fresh(reading).map(sample -> sample.gpus().all()).orElse(List.of());
  }

  // ---- tables

  private Grid runs() {
    var grid =
        new Grid(
            Grid.Column.number("RUN", 0),
            Grid.Column.text("STATE", 1),
            Grid.Column.number("RANKS", 0),
            Grid.Column.text("STEP", 0),
            Grid.Column.number("RATE", 0),
            Grid.Column.text("TREND", 0),
            Grid.Column.text("PROCESSES", 4),
            Grid.Column.text("NODES", 3),
            Grid.Column.number("AGE", 2),
            Grid.Column.rest("COMMAND"));
    for (RunView run : picture.runs()) {
      Optional<RunProgress> progress = picture.progress(run.number());
      Optional<RunProgress.Pace> pace = progress.map(RunProgress::pace);
      grid.row(
          0,
          pace.flatMap(RunProgress.Pace::slow).isPresent() ? Style.ALARM : Style.PLAIN,
          "" + run.number(),
          run.state().word(),
          "" + run.ranks(),
          progress.map(each -> ProgressText.step(each.step())).orElse(""),
          pace.flatMap(RunProgress.Pace::rate).map(ProgressText::rate).orElse(""),
          progress.map(ProgressText::trend).orElse(""),
          processes(run.number()),
          nodesOf(run),
          DurationText.coarse(Duration.between(run.started(), picture.now())),
          Clean.command(run.title()));
    }
    return grid;
  }

  private static String nodesOf(RunView run) {
    SortedSet<Integer> nodes = run.nodes();
    boolean isRange = nodes.size() > 2 && nodes.last() - nodes.first() == nodes.size() - 1;
    return isRange
        ? nodes.first() + "-" + nodes.last()
        : String.join(",", nodes.stream().map(node -> "" + node).toList());
  }

  /** Of all nodes: "14 computing, 2 waiting". */
  private String processes(int run) {
    var words = new java.util.LinkedHashMap<String, Integer>();
    for (NodeReading reading : picture.nodes()) {
      for (RankSample rank : fresh(reading).map(NodeSample::ranks).orElse(List.of())) {
        if (rank.run() == run) {
          words.merge(NodeDetail.stateWord(rank.state()), 1, Integer::sum);
        }
      }
    }
    return String.join(
        ", ",
        words.entrySet().stream().map(each -> each.getValue() + " " + each.getKey()).toList());
  }

  private Grid nodes(boolean hasCursor) {
    var grid =
        new Grid(
            Grid.Column.number("NODE", 0),
            Grid.Column.text("HOST", 3),
            Grid.Column.number("CPU", 0),
            Grid.Column.number("MEMORY", 1),
            Grid.Column.number("FREE DISK", 5),
            Grid.Column.number("NET IN", 4),
            Grid.Column.number("OUT", 4),
            Grid.Column.number("RDMA IN", 2),
            Grid.Column.number("OUT", 2),
            Grid.Column.rest("NOTE"));
    List<NodeReading> shown = shown();
    int selected = Math.min(view.cursor(), shown.size() - 1);
    for (int at = 0; at < shown.size(); at++) {
      NodeReading reading = shown.get(at);
      Optional<NodeSample> sample = fresh(reading);
      String silence = Standouts.silence(reading, picture);
      Style style =
          !silence.isEmpty()
              ? Style.ALARM
              : hasCursor && at == selected ? Style.SELECTED : Style.PLAIN;
      grid.row(
          0,
          style,
          (hasCursor && at == selected ? "›" : "") + reading.node().index(),
          reading.node().host(),
          Figures.percent(sample.flatMap(each -> each.host().cpuPercent())),
          sample.map(each -> Figures.amount(each.host().memory())).orElse(Figures.NONE),
          Figures.memory(sample.flatMap(each -> each.host().disk().free())),
          sum(sample, NodeSample.Network::interfaces, DeviceRate::in),
          sum(sample, NodeSample.Network::interfaces, DeviceRate::out),
          sum(sample, NodeSample.Network::rdma, DeviceRate::in),
          sum(sample, NodeSample.Network::rdma, DeviceRate::out),
          silence.isEmpty() ? sample.map(each -> each.gpus().problem()).orElse("") : silence);
    }
    return grid;
  }

  private static String sum(
      Optional<NodeSample> sample,
      Function<NodeSample.Network, List<DeviceRate>> devices,
      Function<DeviceRate, Optional<Long>> way) {
    List<Long> known =
        sample.map(each -> devices.apply(each.network())).orElse(List.of()).stream()
            .flatMap(device -> way.apply(device).stream())
            .toList();
    return known.isEmpty()
        ? Figures.NONE
        : Figures.rate(Optional.of(known.stream().mapToLong(Long::longValue).sum()));
  }

  private Grid gpus() {
    Grid grid = gpuGrid();
    for (NodeReading reading : shown()) {
      boolean isAll = has(words(reading));
      for (GpuSample gpu : gpusOf(reading)) {
        if (isAll || has(words(reading, gpu))) {
          addGpu(grid, reading, gpu);
        }
      }
    }
    return grid.sorted();
  }

  private static Grid gpuGrid() {
    return new Grid(
        Grid.Column.number("NODE", 0),
        Grid.Column.number("GPU", 0),
        Grid.Column.number("UTIL", 0),
        Grid.Column.number("MEMORY", 1),
        Grid.Column.number("POWER", 3),
        Grid.Column.number("TEMP", 2),
        Grid.Column.number("MHZ", 5),
        Grid.Column.number("RUN", 4),
        Grid.Column.rest("NOTE"));
  }

  private void addGpu(Grid grid, NodeReading reading, GpuSample gpu) {
    int node = reading.node().index();
    grid.row(
        gpuWeight(gpu),
        standout(node, gpu).isPresent() ? Style.ALARM : Style.PLAIN,
        "" + node,
        gpu.slot(),
        Figures.percent(gpu.percent()),
        Figures.amount(gpu.memory()),
        Figures.watts(gpu.power().watts(), gpu.power().limitWatts()),
        Figures.whole(gpu.power().celsius(), "C"),
        Figures.whole(gpu.clocks().smMhz(), ""),
        picture.runOn(node, gpu.slot()).map(run -> "" + run).orElse(""),
        note(reading, gpu));
  }

  private Optional<Standout> standout(int node, GpuSample gpu) {
    return standouts.stream()
        .filter(each -> each.node() == node && each.gpu().equals(Optional.of(gpu.slot())))
        .findFirst();
  }

  private String note(NodeReading reading, GpuSample gpu) {
    return standout(reading.node().index(), gpu)
        .map(each -> "! " + each.what())
        .orElseGet(() -> ThrottleWords.of(gpu.clocks().throttled()));
  }

  // ---- one node

  private List<ScreenLine> detail(int columns) {
    var lines = new ArrayList<ScreenLine>();
    Optional<NodeReading> found =
        picture.nodes().stream()
            .filter(each -> Optional.of(each.node().index()).equals(view.opened()))
            .findFirst();
    found.ifPresent(reading -> detail(reading, columns, lines));
    return lines.stream()
        .map(line -> new ScreenLine(Width.cut(line.text(), columns), line.style()))
        .toList();
  }

  private void detail(NodeReading reading, int columns, List<ScreenLine> lines) {
    int node = reading.node().index();
    lines.add(
        ScreenLine.plain(
            "node "
                + node
                + "  "
                + Clean.line(reading.node().host() + "  " + reading.node().address())));
    standouts.stream()
        .filter(each -> each.node() == node)
        .forEach(each -> lines.add(alarm(each, columns)));
    Optional<NodeSample> sample = fresh(reading);
    sample.ifPresent(now -> NodeDetail.host(now, lines));
    Grid gpus = gpuGrid();
    gpusOf(reading).forEach(gpu -> addGpu(gpus, reading, gpu));
    Grid ranks = NodeDetail.ranks(sample);
    Grid devices = NodeDetail.devices(sample);
    for (Grid grid : List.of(gpus.sorted(), ranks, devices)) {
      if (!grid.isEmpty()) {
        lines.addAll(grid.lines(columns));
      }
    }
  }
}
