package dev.gpush.backends.slurm;

import dev.gpush.backends.slurm.command.LoginNode;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a cluster in the configuration: where jobs go, and native flags that are passed
 * to sbatch unchanged.
 *
 * @param cluster which of several behind the login; empty: the login's own
 * @param scratch the folder under which workspaces lie; empty: {@code ~/gpush}
 * @param sruns how many nodes of a gang may each have an srun of its own on the login node
 * @param container what agents run in, if not in the node itself
 */
public record SlurmSettings(
    String cluster,
    Optional<String> scratch,
    int sruns,
    Optional<Container> container,
    Options options,
    GpuOptions gpus,
    Times times,
    NodeShare share) {
  /**
   * Each is two processes with five threads for as long as a session lasts, and a step that the
   * controller has to make, on a shared machine: administrators notice 64 of them.
   */
  private static final int SRUNS = 16;

  /** These go to sbatch under the same name. */
  private static final List<String> PLAIN =
      List.of("account", "qos", "reservation", "exclude", "nodelist", "switches");

  /**
   * Which nodes, and what else sbatch gets.
   *
   * @param flags options whose value is the configuration's own, such as {@code --account=lab}
   * @param partitions where jobs may go; empty: the cluster's default
   */
  public record Options(List<String> flags, List<String> partitions, Optional<String> constraint) {
    public Options {
      flags = List.copyOf(flags);
      partitions = List.copyOf(partitions);
    }

    private static Options of(Json.Obj values) {
      var flags = new ArrayList<String>();
      for (String name : PLAIN) {
        values.text(name).ifPresent(value -> flags.add("--" + name + "=" + value));
      }
      if (values.flag("exclusive")) {
        flags.add("--exclusive");
      }
      flags.addAll(values.texts("native"));
      return new Options(flags, values.texts("partition"), values.text("constraint"));
    }

    /** Memory is asked for by the GPU or CPU already. */
    boolean hasOtherMemory() {
      return flags.stream().anyMatch(flag -> flag.startsWith("--mem-per-"));
    }
  }

  /**
   * How GPUs are asked for.
   *
   * @param usesGres {@code --gres=gpu:…}, which every Slurm knows, instead of {@code
   *     --gpus-per-node}
   * @param names how this site calls a GPU model
   */
  public record GpuOptions(boolean usesGres, Map<String, String> names) {
    public GpuOptions {
      names = Map.copyOf(names);
    }

    private static GpuOptions of(Json.Obj gpus) {
      var names = new HashMap<String, String>();
      gpus.object("names")
          .entries()
          .forEach((model, name) -> names.put(model, name.asText().orElse("")));
      return new GpuOptions(!gpus.text("style").orElse("gres").equals("gpus"), names);
    }
  }

  /**
   * How long jobs may last.
   *
   * @param usual of a job without --for; empty: the partition's
   * @param most the longest --for; empty: any
   * @param limit Slurm's own, to the minute, where the user's script says it
   */
  public record Times(Optional<Duration> usual, Optional<Duration> most, Optional<Duration> limit) {
    private static Times of(Json.Obj time) {
      return new Times(
          time.number("default").map(Duration::ofSeconds),
          time.number("max").map(Duration::ofSeconds),
          Optional.empty());
    }
  }

  /**
   * What a job takes of each node.
   *
   * @param cpus 0: the GPUs' share
   * @param memory as sbatch reads it; empty: the GPUs' share
   */
  public record NodeShare(int cpus, Optional<String> memory) {
    private static NodeShare of(Json.Obj values) {
      return new NodeShare(values.integer("cpus").orElse(0), values.text("memory"));
    }
  }

  public static SlurmSettings of(BackendConfig config) {
    Json.Obj values = config.values();
    return new SlurmSettings(
        values.text("cluster").orElse(""),
        scratch(config),
        values.integer("sruns").orElse(SRUNS),
        Container.of(values),
        Options.of(values),
        GpuOptions.of(values.object("gpus")),
        Times.of(values.object("time")),
        NodeShare.of(values));
  }

  /**
   * Only home and user are read from the login node; its other variables differ from those of
   * nodes.
   */
  private static Optional<String> scratch(BackendConfig config) {
    Optional<String> scratch = config.values().text("scratch");
    scratch
        .flatMap(text -> NodeFolder.flaw(text, NodeFolder.Variables.USER_AND_HOME))
        .ifPresent(
            flaw -> {
              throw new GpushException(
                  new BackendFailure.Unavailable(
                      config.name(),
                      "scratch: " + flaw,
                      "write scratch: /PATH at " + config.origin()));
            });
    return scratch;
  }

  /** With what the user's own script says to Slurm, which counts before the configuration. */
  public SlurmSettings with(GangRequest request) {
    var rest = new ArrayList<>(options.flags());
    List<String> partition = options.partitions();
    Optional<String> wanted = options.constraint();
    Optional<Duration> limit = times.limit();
    int cpus = share.cpus();
    Optional<String> memory = share.memory();
    for (String option : request.options().natives()) {
      String name = option.replaceFirst("=.*", "");
      String value = option.substring(Math.min(option.length(), name.length() + 1));
      switch (name) {
        case "--partition" -> partition = List.of(value.split(",", -1));
        case "--constraint" -> wanted = Optional.of(value);
        case "--mem" -> memory = Optional.of(value);
        case "--time" -> limit = number(value).map(Duration::ofMinutes);
        case "--cpus-per-task" -> cpus = number(value).map(Math::toIntExact).orElse(cpus);
        case "--cpus-per-gpu" ->
            cpus =
                number(value)
                    .map(each -> Math.toIntExact(each * Math.max(1, request.gpus().count())))
                    .orElse(cpus);
        default -> {
          rest.removeIf(flag -> flag.equals(name) || flag.startsWith(name + "="));
          rest.add(option);
        }
      }
    }
    return new SlurmSettings(
        cluster,
        scratch,
        sruns,
        Container.of(request.options().image(), container),
        new Options(rest, partition, wanted),
        gpus,
        new Times(times.usual(), times.most(), limit),
        new NodeShare(cpus, memory));
  }

  private static Optional<Long> number(String digits) {
    return digits.matches("[0-9]{1,6}") ? Optional.of(Long.valueOf(digits)) : Optional.empty();
  }

  /** Under which folder a gang's nodes have theirs. */
  public String under(LoginNode.Facts login, String gang) {
    return login.path(scratch.orElse("~/gpush")).replaceFirst("/+$", "") + "/" + gang;
  }
}
