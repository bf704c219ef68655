package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.GpuName;
import dev.gpush.backends.slurm.cluster.Gres;
import dev.gpush.backends.slurm.cluster.Partition;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Turns a request into options of sbatch, from the cluster's partitions and nodes; or finds why
 * this cluster can never grant it, and what it could grant. Pure.
 */
public final class JobShaping {
  /** Between the agents' own end and Slurm's: time to stop runs and remove files. */
  public static final Duration SLACK = Duration.ofMinutes(2);

  /**
   * Without a grace period, a job that is preempted or cancelled has KillWait, 30 s by default; the
   * agents need some of it to end in order.
   */
  private static final Duration KILL_WAIT = Duration.ofSeconds(15);

  /** If neither the user, the configuration nor the partition has a limit. */
  private static final Duration USUAL = Duration.ofHours(8);

  /** The part of a node's memory that the GPUs share; the rest is for the system. */
  private static final double OF_MEMORY = 0.95;

  /** The default CPUs of a node without GPUs. */
  private static final int USUAL_CPUS = 8;

  private final GangRequest request;
  private final SlurmSettings settings;
  private final List<Partition> partitions;
  private final List<SlurmNode> nodes;

  public JobShaping(
      GangRequest request,
      SlurmSettings settings,
      List<Partition> partitions,
      List<SlurmNode> nodes) {
    this.request = request;
    this.settings = settings;
    this.partitions = partitions;
    this.nodes = nodes;
  }

  public sealed interface Result {
    record Fits(JobShape shape) implements Result {}

    record Hopeless(String reason, List<String> works) implements Result {}
  }

  /** Ends the search at the first condition that can never hold. */
  private static final class NoWay extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Result.Hopeless why;

    NoWay(String reason, List<String> works) {
      super(reason);
      this.why = new Result.Hopeless(reason, works);
    }
  }

  public Result result() {
    try {
      return new Result.Fits(shape());
    } catch (NoWay found) {
      return found.why;
    }
  }

  private JobShape shape() throws NoWay {
    List<Partition> open = withTime(named());
    Wanted wanted = wanted(nodesOf(open));
    List<Partition> possible = withNodes(open, wanted);
    List<SlurmNode> fitting = wanted.nodes().stream().filter(node -> isIn(node, possible)).toList();
    Duration time = time(possible);
    var options = new ArrayList<String>();
    options.add("--nodes=" + request.nodes());
    options.add("--ntasks-per-node=1");
    options.add("--time=" + SlurmTime.limit(time));
    var flags = new ArrayList<>(settings.options().flags());
    wanted.option().map(option -> withOthers(option, flags)).ifPresent(options::add);
    constraint(wanted).ifPresent(both -> options.add("--constraint=" + both));
    String chosen = "";
    if (!settings.options().partitions().isEmpty() || wanted.isByPartition()) {
      chosen = possible.stream().map(Partition::name).collect(Collectors.joining(","));
      options.add("--partition=" + chosen);
    }
    int cpus = share(fitting, SlurmNode::cpus, settings.share().cpus());
    options.add("--cpus-per-task=" + cpus);
    if (!settings.options().hasOtherMemory()) {
      memory(fitting, cpus).map("--mem="::concat).ifPresent(options::add);
    }
    options.addAll(flags);
    return new JobShape(
        options,
        chosen,
        fitting,
        closed(possible),
        wanted.model(),
        cpus,
        hardEnd(time),
        grace(possible));
  }

  /** Slurm ignores the first of two {@code --gres}. */
  private static String withOthers(String option, List<String> flags) {
    Optional<String> others = flags.stream().filter(flag -> flag.startsWith("--gres=")).findFirst();
    if (!option.startsWith("--gres=") || others.isEmpty()) {
      return option;
    }
    flags.remove(others.get());
    return option + "," + others.get().substring("--gres=".length());
  }

  /** The script's own limit, else the requested time plus time to release. */
  private Optional<Duration> limit() {
    return settings.times().limit().or(() -> request.lease().hardEnd().map(end -> end.plus(SLACK)));
  }

  private static String closed(List<Partition> possible) {
    return possible.stream().anyMatch(partition -> partition.state().equals("UP"))
        ? ""
        : "partition " + names(possible) + " accepts jobs but starts none now";
  }

  private Duration hardEnd(Duration time) {
    Duration left = before(time);
    return request.lease().hardEnd().filter(end -> end.compareTo(left) < 0).orElse(left);
  }

  /** The agents' latest end for a job that Slurm ends after this time. */
  public static Duration before(Duration limit) {
    return limit.compareTo(SLACK.multipliedBy(2)) < 0 ? limit.dividedBy(2) : limit.minus(SLACK);
  }

  /** The shortest, because it is not known yet in which of them it will run. */
  private static Duration grace(List<Partition> possible) {
    return possible.stream()
        .map(Partition::grace)
        .min(Comparator.naturalOrder())
        .filter(least -> least.compareTo(KILL_WAIT) > 0)
        .orElse(KILL_WAIT);
  }

  // ---- partitions

  private List<Partition> named() throws NoWay {
    var chosen = new ArrayList<Partition>();
    for (String name : settings.options().partitions()) {
      Optional<Partition> found =
          partitions.stream().filter(partition -> partition.name().equals(name)).findFirst();
      if (found.isEmpty()) {
        throw new NoWay(
            "there is no partition "
                + ClusterText.clean(name)
                + " there, or it is not yours; there are "
                + ClusterText.list(partitions.stream().map(Partition::name).toList()),
            List.of("sinfo -s"));
      }
      chosen.add(found.get());
    }
    if (settings.options().partitions().isEmpty()) {
      partitions.stream().filter(Partition::isDefault).forEach(chosen::add);
    }
    if (chosen.isEmpty()) {
      // The GPUs may select the partition; else sbatch reports that there is no default.
      return partitions;
    }
    return chosen;
  }

  private List<Partition> withTime(List<Partition> named) throws NoWay {
    Optional<Duration> end = request.lease().hardEnd();
    if (end.isEmpty()) {
      return named;
    }
    List<Partition> long_enough =
        named.stream().filter(partition -> partition.allows(limit().orElse(end.get()))).toList();
    Optional<Duration> most = settings.times().most();
    if (most.isPresent() && end.get().compareTo(most.get()) > 0) {
      throw tooLong("the configuration allows", most.get());
    }
    if (long_enough.isEmpty()) {
      Duration longest =
          named.stream()
              .flatMap(partition -> partition.mostTime().stream())
              .max(Comparator.naturalOrder())
              .orElse(USUAL);
      throw tooLong("partition " + names(named) + " allows", longest);
    }
    return long_enough;
  }

  private static NoWay tooLong(String who, Duration most) {
    Duration fits = most.compareTo(SLACK) > 0 ? most.minus(SLACK) : most;
    return new NoWay(
        who + " at most " + DurationText.of(most),
        List.of("--for " + DurationText.of(Duration.ofMinutes(fits.toMinutes()))));
  }

  private Duration time(List<Partition> possible) {
    Optional<Duration> asked = limit();
    Optional<Duration> usual =
        possible.stream().flatMap(each -> each.usualTime().stream()).min(Comparator.naturalOrder());
    Optional<Duration> most =
        possible.stream().flatMap(each -> each.mostTime().stream()).min(Comparator.naturalOrder());
    Duration wanted = asked.or(settings.times()::usual).or(() -> usual).orElse(USUAL);
    return most.filter(limit -> limit.compareTo(wanted) < 0).orElse(wanted);
  }

  private static String names(List<Partition> some) {
    return ClusterText.list(some.stream().map(Partition::name).toList());
  }

  private static boolean isIn(SlurmNode node, List<Partition> some) {
    return some.stream().anyMatch(partition -> node.partitions().contains(partition.name()));
  }

  private List<SlurmNode> nodesOf(List<Partition> some) {
    return nodes.stream().filter(node -> isIn(node, some)).toList();
  }

  /** Those with enough nodes for the gang: a job's nodes are all of one partition. */
  private List<Partition> withNodes(List<Partition> open, Wanted wanted) throws NoWay {
    int most = 0;
    var enough = new ArrayList<Partition>();
    for (Partition partition : open) {
      int has =
          (int) wanted.nodes().stream().filter(node -> isIn(node, List.of(partition))).count();
      int gives = Math.min(has, partition.mostNodes());
      most = Math.max(most, gives);
      if (gives >= request.nodes()) {
        enough.add(partition);
      }
    }
    if (!enough.isEmpty()) {
      return enough;
    }
    String what =
        request.gpus().isNone() ? "" : " with " + request.gpus().count() + " " + wanted.model();
    throw new NoWay(
        most == 0
            ? "no usable partition has a node" + what
            : "partition "
                + names(open)
                + " gives one job at most "
                + Phrase.counted(most, "node")
                + what,
        most == 0
            ? List.of("sinfo -o '%P %D %G'")
            : List.of("--nodes " + most + gpus(request.gpus())));
  }

  private static String gpus(GpuRequest gpus) {
    return gpus.isNone() ? "" : " --gpus " + gpus;
  }

  // ---- GPUs

  /**
   * How the GPUs are requested on this cluster.
   *
   * @param option for sbatch
   * @param feature that selects the model if the GPUs have no type
   * @param nodes that have them
   */
  private record Wanted(
      Optional<String> option,
      Optional<String> feature,
      boolean isByPartition,
      String model,
      List<SlurmNode> nodes) {}

  private Wanted wanted(List<SlurmNode> all) throws NoWay {
    if (request.gpus().isNone()) {
      return new Wanted(Optional.empty(), Optional.empty(), false, "", all);
    }
    int count = request.gpus().count();
    Optional<String> model = request.gpus().model();
    if (model.isEmpty()) {
      return known(all, node -> Gres.total(node.gpus()) >= count, "", Optional.empty(), false);
    }
    var name = new GpuName(settings.gpus().names().getOrDefault(model.get(), model.get()));
    Optional<String> type =
        one(name, all.stream().flatMap(node -> node.gpus().stream()).map(Gres::type).toList());
    if (type.isPresent()) {
      return known(
          all, node -> has(node, type.get()) >= count, type.get(), Optional.empty(), false);
    }
    List<SlurmNode> untyped = all.stream().filter(node -> has(node, "") > 0).toList();
    Optional<String> feature =
        one(name, untyped.stream().flatMap(node -> node.features().stream()).toList());
    if (feature.isPresent()) {
      List<SlurmNode> with =
          untyped.stream().filter(node -> node.features().contains(feature.get())).toList();
      return known(with, node -> has(node, "") >= count, "", feature, false);
    }
    List<SlurmNode> byPartition =
        untyped.stream()
            .filter(node -> node.partitions().stream().anyMatch(name::isWithin))
            .toList();
    if (!byPartition.isEmpty()) {
      return known(byPartition, node -> has(node, "") >= count, "", Optional.empty(), true);
    }
    throw new NoWay(
        "there is no "
            + ClusterText.clean(model.get())
            + " in the usable partitions; there are "
            + ClusterText.list(models(all)),
        models(all).stream()
            .filter(each -> !each.equals("none"))
            .map(each -> with(each, count))
            .toList());
  }

  private String with(String type, int count) {
    return "--nodes "
        + request.nodes()
        + " --gpus "
        + (type.equals("GPUs without a type") ? "" : type + ":")
        + count;
  }

  private Wanted known(
      List<SlurmNode> some,
      java.util.function.Predicate<SlurmNode> hasEnough,
      String type,
      Optional<String> feature,
      boolean isByPartition)
      throws NoWay {
    int count = request.gpus().count();
    List<SlurmNode> enough = some.stream().filter(hasEnough).toList();
    String model = !type.isEmpty() ? type : feature.or(() -> request.gpus().model()).orElse("GPU");
    if (enough.isEmpty()) {
      int most =
          some.stream()
              .mapToInt(node -> type.isEmpty() ? Gres.total(node.gpus()) : has(node, type))
              .max()
              .orElse(0);
      throw new NoWay(
          most == 0
              ? "no node there has GPUs"
              : "no node has " + count + " " + model + "; the most is " + most,
          most == 0
              ? List.of("--nodes " + request.nodes() + " --gpus 0")
              : List.of(
                  "--nodes "
                      + request.nodes()
                      + " --gpus "
                      + request.gpus().model().map(each -> each + ":").orElse("")
                      + most));
    }
    String what = (type.isEmpty() ? "" : type + ":") + count;
    String option = settings.gpus().usesGres() ? "--gres=gpu:" + what : "--gpus-per-node=" + what;
    return new Wanted(Optional.of(option), feature, isByPartition, model, enough);
  }

  private static int has(SlurmNode node, String type) {
    return Gres.total(node.gpus().stream().filter(gres -> gres.type().equals(type)).toList());
  }

  private static List<String> models(List<SlurmNode> all) {
    List<String> types =
        all.stream()
            .flatMap(node -> node.gpus().stream())
            .map(gres -> gres.type().isEmpty() ? "GPUs without a type" : gres.type())
            .distinct()
            .sorted()
            .toList();
    return types.isEmpty() ? List.of("none") : types;
  }

  /** The one of these names that matches; several matches are a failure. */
  private Optional<String> one(GpuName name, List<String> names) throws NoWay {
    List<String> distinct =
        names.stream().filter(each -> !each.isEmpty()).distinct().sorted().toList();
    Optional<String> exact = distinct.stream().filter(name::isExactly).findFirst();
    if (exact.isPresent()) {
      return exact;
    }
    List<String> within = distinct.stream().filter(name::isWithin).toList();
    if (within.size() > 1) {
      throw new NoWay(
          name.text() + " may be " + ClusterText.list(within) + " there; say which",
          within.stream().map(each -> with(each, request.gpus().count())).toList());
    }
    return within.stream().findFirst();
  }

  private Optional<String> constraint(Wanted wanted) {
    if (settings.options().constraint().isPresent() && wanted.feature().isPresent()) {
      return Optional.of(
          "(" + settings.options().constraint().get() + ")&" + wanted.feature().get());
    }
    return settings.options().constraint().or(wanted::feature);
  }

  // ---- CPUs and memory

  /** The setting, else the GPUs' share of the smallest fitting node. */
  private int share(
      List<SlurmNode> fitting, java.util.function.ToIntFunction<SlurmNode> of, int configured) {
    if (configured > 0) {
      return configured;
    }
    int count = request.gpus().count();
    int least =
        fitting.stream()
            .mapToInt(
                node -> {
                  int gpus = Gres.total(node.gpus());
                  int has = of.applyAsInt(node);
                  return count > 0 && gpus > 0
                      ? (int) ((long) has * Math.min(count, gpus) / gpus)
                      : Math.min(USUAL_CPUS, Math.max(1, has / 4));
                })
            .min()
            .orElse(1);
    return Math.max(1, least);
  }

  /** Empty where memory is no resource, because the nodes have none in the configuration. */
  private Optional<String> memory(List<SlurmNode> fitting, int cpus) {
    if (settings.share().memory().isPresent()) {
      return settings.share().memory();
    }
    if (fitting.stream().anyMatch(node -> node.memory() <= 1)) {
      return Optional.empty();
    }
    int count = request.gpus().count();
    double least =
        fitting.stream()
            .mapToDouble(
                node -> {
                  int gpus = Gres.total(node.gpus());
                  double share =
                      count > 0 && gpus > 0
                          ? Math.min(1.0, (double) count / gpus)
                          : (double) cpus / Math.max(1, node.cpus());
                  return node.memory() * Math.min(1.0, share) * OF_MEMORY;
                })
            .min()
            .orElse(1024);
    return Optional.of((long) Math.max(1, least) + "M");
  }
}
