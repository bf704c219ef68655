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
 * What a block of the configuration says of a cluster: where work is put there, and the native
 * flags that go to sbatch as they are.
 *
 * @param cluster which of several behind the login; empty: the login's own
 * @param container what agents run in, if not in the node itself
 * @param flags options whose value is the configuration's own, such as {@code --account=lab}
 * @param partitions where jobs may go; empty: the cluster's default
 * @param usesGres {@code --gres=gpu:…}, which every Slurm knows, instead of {@code --gpus-per-node}
 * @param gpuNames how this site calls a GPU model
 * @param time of a job for which nobody says how long; empty: the partition's
 * @param limit Slurm's own, to the minute, where the person's script says it
 * @param sruns how many nodes of a gang may each have an srun of its own on the login node
 * @param scratch the folder under which workspaces lie; empty: {@code ~/gpush}
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
   * controller has to make, on a machine that many people share: 64 of them are what an
   * administrator notices.
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
   * The login node is asked for home and user alone; its other variables are not those of nodes.
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

  /** With what the person's own script says to Slurm, which counts before the configuration. */
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

  /** Memory is asked for by the GPU or CPU already. */
  boolean hasOtherMemory() {
    return flags.stream().anyMatch(flag -> flag.startsWith("--mem-per-"));
  }

  /** A cluster of which nothing is said. */
  static SlurmSettings none() {
    return of(new BackendConfig("slurm", "slurm", Json.object(), ""));
  }

  /** Under which folder a gang's nodes have theirs. */
  public String under(LoginNode.Facts login, String gang) {
    return login.path(scratch.orElse("~/gpush")).replaceFirst("/+$", "") + "/" + gang;
  }
}
