package dev.gpush.backends.slurm;

import dev.gpush.core.config.BackendConfig;
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
 * @param flags options whose value is the configuration's own, such as {@code --account=lab}
 * @param partitions where jobs may go; empty: the cluster's default
 * @param usesGres {@code --gres=gpu:…}, which every Slurm knows, instead of {@code --gpus-per-node}
 * @param gpuNames how this site calls a GPU model
 * @param time of a job for which nobody says how long; empty: the partition's
 * @param scratch the folder under which workspaces lie; empty: {@code ~/gpush}
 */
record SlurmSettings(
    List<String> flags,
    List<String> partitions,
    Optional<String> constraint,
    boolean usesGres,
    Map<String, String> gpuNames,
    Optional<Duration> time,
    Optional<Duration> mostTime,
    Optional<String> scratch,
    int cpus,
    Optional<String> memory) {
  /** These go to sbatch under the same name. */
  private static final List<String> PLAIN =
      List.of("account", "qos", "reservation", "exclude", "nodelist", "switches");

  SlurmSettings {
    flags = List.copyOf(flags);
    partitions = List.copyOf(partitions);
    gpuNames = Map.copyOf(gpuNames);
  }

  static SlurmSettings of(BackendConfig config) {
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
        flags,
        values.texts("partition"),
        values.text("constraint"),
        !values.object("gpus").text("style").orElse("gres").equals("gpus"),
        names,
        values.object("time").number("default").map(Duration::ofSeconds),
        values.object("time").number("max").map(Duration::ofSeconds),
        values.text("scratch"),
        Math.toIntExact(values.number("cpus").orElse(0L)),
        values.text("memory"));
  }

  /** A cluster of which nothing is said. */
  static SlurmSettings none() {
    return of(new BackendConfig("slurm", "slurm", Json.object(), ""));
  }

  /** Under which folder a gang's nodes have theirs. */
  String under(Login.Facts login, String gang) {
    return login.path(scratch.orElse("~/gpush")).replaceFirst("/+$", "") + "/" + gang;
  }
}
