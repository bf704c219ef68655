package dev.gpush.shell.top;

import dev.gpush.core.sample.GpuSample;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample.RankSample;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.CleanText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What differs from its like: a GPU or a rank from the others of its run, a GPU that its driver
 * slows down, a node that is silent. Ranks of a run do the same, so one that differs is worth a
 * look; which one makes the others wait, a sample alone cannot say.
 */
public final class Standouts {
  /** Percentage points of utilisation below the others. */
  private static final int LOWER = 30;

  /** Of the others' clock; boost clocks of equal GPUs differ by a few per cent. */
  private static final double CLOCK_SHARE = 0.85;

  /** A GPU that computes less than this has no reason to raise its clock. */
  private static final int BUSY = 50;

  /** Of the others' processor time, where they use as much as {@link #BUSY} per cent of one. */
  private static final double CPU_SHARE = 0.5;

  /** A power cap is normal at full load; these are not. */
  private static final List<String> HARMFUL =
      List.of("hw-slowdown", "sw-thermal", "hw-thermal", "power-brake");

  private Standouts() {}

  /** One of them: of a GPU, of a rank, or of a whole node. */
  public record Standout(int node, Optional<String> gpu, Optional<Integer> rank, String what) {
    public String sentence() {
      return "node "
          + node
          + gpu.map(slot -> " gpu " + CleanText.line(slot)).orElse("")
          + rank.map(number -> " rank " + number).orElse("")
          + ": "
          + what;
    }
  }

  private record Gpu(int node, GpuSample sample) {}

  private record Rank(int node, RankSample sample) {}

  public static List<Standout> of(TopPicture picture) {
    var found = new ArrayList<Standout>();
    var gpus = new TreeMap<Integer, List<Gpu>>();
    var ranks = new TreeMap<Integer, List<Rank>>();
    for (NodeReading reading : picture.nodes()) {
      int node = reading.node().index();
      String silence = silence(reading, picture);
      if (!silence.isEmpty()) {
        found.add(new Standout(node, Optional.empty(), Optional.empty(), silence));
      } else {
        reading.sample().stream()
            .flatMap(sample -> sample.gpus().all().stream())
            .forEach(
                gpu -> {
                  alone(gpu).ifPresent(what -> found.add(of(new Gpu(node, gpu), what)));
                  picture
                      .runOn(node, gpu.slot())
                      .ifPresent(run -> add(gpus, run, new Gpu(node, gpu)));
                });
        reading.sample().stream()
            .flatMap(sample -> sample.ranks().stream())
            .forEach(rank -> add(ranks, rank.run(), new Rank(node, rank)));
      }
    }
    gpus.values().forEach(all -> compareGpus(all, found));
    ranks.values().forEach(all -> compareRanks(all, found));
    // A small screen has room for the first one only, and a silent node hides all that is on it.
    found.sort(Comparator.comparing(each -> each.gpu().isPresent() || each.rank().isPresent()));
    return List.copyOf(found);
  }

  /** Why a node's numbers are not of now; empty when they are. */
  static String silence(NodeReading reading, TopPicture picture) {
    if (reading.isFresh(picture.oldest())) {
      return "";
    }
    String why =
        !reading.problem().isEmpty()
            ? CleanText.line(reading.problem())
            : reading.isLinked() ? "" : "its link is " + reading.link();
    String since =
        reading.age().map(age -> "no sample for " + DurationText.of(age)).orElse("no sample yet");
    return why.isEmpty() ? since : since + ", " + why;
  }

  private static <T> void add(Map<Integer, List<T>> all, int run, T one) {
    all.computeIfAbsent(run, _ -> new ArrayList<>()).add(one);
  }

  private static Standout of(Gpu gpu, String what) {
    return new Standout(gpu.node(), Optional.of(gpu.sample().slot()), Optional.empty(), what);
  }

  private static Optional<String> alone(GpuSample gpu) {
    if (!gpu.problem().isEmpty()) {
      return Optional.of("does not answer: " + CleanText.line(gpu.problem(), 40));
    }
    List<String> reasons = gpu.clocks().throttled().stream().filter(HARMFUL::contains).toList();
    return reasons.isEmpty()
        ? Optional.empty()
        : Optional.of("slowed down by " + ThrottleWords.of(reasons));
  }

  private static void compareGpus(List<Gpu> all, List<Standout> found) {
    for (Gpu gpu : all) {
      Optional<Double> own = of(gpu, GpuSample::percent);
      Optional<Double> others = medianOfOthers(all, gpu, each -> of(each, GpuSample::percent));
      if (own.isPresent() && others.isPresent() && own.get() < others.get() - LOWER) {
        found.add(of(gpu, whole(own.get()) + "% busy, others " + whole(others.get()) + "%"));
        continue;
      }
      Optional<Double> clock = of(gpu, each -> each.clocks().smMhz());
      Optional<Double> clocks =
          medianOfOthers(all, gpu, each -> of(each, sample -> sample.clocks().smMhz()));
      boolean isBusy = own.orElse(0.0) >= BUSY;
      if (isBusy
          && clock.isPresent()
          && clocks.isPresent()
          && clock.get() < CLOCK_SHARE * clocks.get()) {
        found.add(of(gpu, whole(clock.get()) + " MHz, others " + whole(clocks.get())));
      }
    }
  }

  private static void compareRanks(List<Rank> all, List<Standout> found) {
    for (Rank rank : all) {
      String state = rank.sample().state();
      if (state.equals("T") || state.equals("Z") || state.equals("ended")) {
        found.add(of(rank, "its process " + (state.equals("T") ? "is stopped" : "has ended")));
        continue;
      }
      Optional<Double> own = rank.sample().cpuPercent();
      Optional<Double> others = medianOfOthers(all, rank, each -> each.sample().cpuPercent());
      if (own.isPresent()
          && others.isPresent()
          && others.get() >= BUSY
          && own.get() < CPU_SHARE * others.get()) {
        found.add(
            of(rank, whole(own.get()) + "% of a processor, others " + whole(others.get()) + "%"));
      }
    }
  }

  private static Standout of(Rank rank, String what) {
    return new Standout(rank.node(), Optional.empty(), rank.sample().rank(), what);
  }

  private static Optional<Double> of(Gpu gpu, Function<GpuSample, Optional<Integer>> value) {
    return value.apply(gpu.sample()).map(Integer::doubleValue);
  }

  private static <T> Optional<Double> medianOfOthers(
      List<T> all, T one, Function<T, Optional<Double>> value) {
    List<Double> others =
        all.stream()
            .filter(each -> !each.equals(one))
            .flatMap(each -> value.apply(each).stream())
            .sorted()
            .toList();
    if (others.isEmpty()) {
      return Optional.empty();
    }
    int half = others.size() / 2;
    return Optional.of(
        others.size() % 2 == 1 ? others.get(half) : (others.get(half - 1) + others.get(half)) / 2);
  }

  private static long whole(double number) {
    return Math.round(number);
  }
}
