package dev.gpush.backends.slurm.request;

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
 * @param cluster which of the login's clusters; empty: the login's own
 * @param container in which agents run, if not on the node itself
 * @param flags options whose value is the configuration's own, such as {@code --account=lab}
 * @param partitions where jobs may go; empty: the cluster's default
 * @param usesGres {@code --gres=gpu:…}, which every Slurm knows, instead of {@code --gpus-per-node}
 * @param gpuNames the site's name for a GPU model
 * @param time the default limit of a job; empty: the partition's
 * @param limit Slurm's own, to the minute, if the user's script has it
 * @param sruns up to how many nodes each node of a gang has its own srun on the login node
 * @param scratch the folder for workspaces; empty: {@code ~/gpush}
 */
public record SlurmSettings(
    String cluster,
    Optional<Container> container,
    List<String> flags,
    List<String> partitions,
    Optional<String> constraint,
    boolean usesGres,
    Map<String, String> gpuNames,
    Optional<Duration> time,
    Optional<Duration> mostTime,
    Optional<Duration> limit,
    Optional<String> scratch,
    int sruns,
    int cpus,
    Optional<String> memory) {
  /**
   * Each is two processes with five threads for as long as a session lasts, and a step that the
   * controller has to make, on a shared machine: administrators notice 64 of them.
   */
  static final int SRUNS = 16;

  /** These go to sbatch under the same name. */
  private static final List<String> PLAIN =
      List.of("account", "qos", "reservation", "exclude", "nodelist", "switches");

  public SlurmSettings {
    flags = List.copyOf(flags);
    partitions = List.copyOf(partitions);
    gpuNames = Map.copyOf(gpuNames);
  }

  public static SlurmSettings of(BackendConfig config) {
    Json.Obj values = config.values();
    var flags = new ArrayList<String>();
    for (String name : PLAIN) {
      values.text(name).ifPresent(value -> flags.add("--" + name + "=" + value));
    }
    if (values.flag("exclusive")) {
      flags.add("--exclusive");
    }
    flags.addAll(values.texts("native"));
    var names = new HashMap<String, String>();
    values
        .object("gpus")
        .object("names")
        .entries()
        .forEach((model, name) -> names.put(model, name.asText().orElse("")));
    return new SlurmSettings(
        values.text("cluster").orElse(""),
        Container.of(values),
        flags,
        values.texts("partition"),
        values.text("constraint"),
        !values.object("gpus").text("style").orElse("gres").equals("gpus"),
        names,
        values.object("time").number("default").map(Duration::ofSeconds),
        values.object("time").number("max").map(Duration::ofSeconds),
        Optional.empty(),
        scratch(config),
        Math.toIntExact(values.number("sruns").orElse((long) SRUNS)),
        Math.toIntExact(values.number("cpus").orElse(0L)),
        values.text("memory"));
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

  /** The settings with the options of the user's script, which take precedence. */
  public SlurmSettings with(GangRequest request) {
    var rest = new ArrayList<>(flags);
    List<String> partition = partitions;
    Optional<String> wanted = constraint;
    Optional<Duration> time = limit;
    int cpusEach = cpus;
    Optional<String> memoryEach = memory;
    for (String option : request.natives()) {
      String name = option.replaceFirst("=.*", "");
      String value = option.substring(Math.min(option.length(), name.length() + 1));
      switch (name) {
        case "--partition" -> partition = List.of(value.split(",", -1));
        case "--constraint" -> wanted = Optional.of(value);
        case "--mem" -> memoryEach = Optional.of(value);
        case "--time" -> time = number(value).map(Duration::ofMinutes);
        case "--cpus-per-task" -> cpusEach = number(value).map(Math::toIntExact).orElse(cpusEach);
        case "--cpus-per-gpu" ->
            cpusEach =
                number(value)
                    .map(each -> Math.toIntExact(each * Math.max(1, request.gpus().count())))
                    .orElse(cpusEach);
        default -> {
          rest.removeIf(flag -> flag.equals(name) || flag.startsWith(name + "="));
          rest.add(option);
        }
      }
    }
    return new SlurmSettings(
        cluster,
        Container.of(request.image(), container),
        rest,
        partition,
        wanted,
        usesGres,
        gpuNames,
        this.time,
        mostTime,
        time,
        scratch,
        sruns,
        cpusEach,
        memoryEach);
  }

  private static Optional<Long> number(String digits) {
    return digits.matches("[0-9]{1,6}") ? Optional.of(Long.valueOf(digits)) : Optional.empty();
  }

  /** Whether memory is requested per GPU or CPU already. */
  boolean hasOtherMemory() {
    return flags.stream().anyMatch(flag -> flag.startsWith("--mem-per-"));
  }

  /** The settings of a cluster without any. */
  static SlurmSettings none() {
    return of(new BackendConfig("slurm", "slurm", Json.object(), ""));
  }

  /** The folder under which a gang's nodes have their workspaces. */
  public String under(LoginNode.Facts login, String gang) {
    return login.path(scratch.orElse("~/gpush")).replaceFirst("/+$", "") + "/" + gang;
  }
}
