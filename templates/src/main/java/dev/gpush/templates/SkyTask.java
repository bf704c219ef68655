package dev.gpush.templates;

import dev.gpush.core.config.TaskFile;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.failure.UsageFailure.BadLine;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A task file of SkyPilot, read as a run: {@code setup} and then {@code run} by bash on every node,
 * with SkyPilot's variables. What asks for a cloud has no effect, because sessions come from
 * gpush's backends; what the program would miss is a failure with its line.
 */
final class SkyTask {
  /** What each node runs: variables of SkyPilot from ours, {@code setup}, and {@code run}. */
  private static final String SHELL =
      """
      export SKYPILOT_NODE_RANK="$GPUSH_NODE" SKYPILOT_NUM_NODES="$GPUSH_NODES"
      export SKYPILOT_NODE_IPS="${GPUSH_NODE_ADDRS//,/$'\\n'}"
      export SKYPILOT_TASK_ID="gpush-$GPUSH_RUN" SKYPILOT_USER="${USER:-}"
      IFS=, read -r -a gpus <<< "${CUDA_VISIBLE_DEVICES:-}"
      export SKYPILOT_NUM_GPUS_PER_NODE="${#gpus[@]}"
      SKYPILOT_SETUP_NODE_RANK=$SKYPILOT_NODE_RANK SKYPILOT_SETUP_NODE_IPS=$SKYPILOT_NODE_IPS \\
        SKYPILOT_NUM_NODES=$SKYPILOT_NUM_NODES bash -c "$1" setup || exit
      exec bash -c "$2" run
      """;

  private static final String CLOUD = "sessions come from gpush's backends";

  /** Keys of {@code resources} that say where and what to rent. */
  private static final Set<String> RENTED =
      Set.of(
          "cloud",
          "region",
          "zone",
          "infra",
          "instance_type",
          "cpus",
          "memory",
          "use_spot",
          "disk_size",
          "disk_tier",
          "network_tier",
          "image_id",
          "labels",
          "autostop",
          "priority",
          "job_recovery",
          "spot_recovery",
          "accelerator_args");

  private static final String DATA =
      "data and files from elsewhere are not mounted; only the workspace is on the nodes";

  /** Keys that the program depends on. */
  private static final Map<String, String> REFUSED =
      Map.of(
          "file_mounts", DATA,
          "storage_mounts", DATA,
          "volumes", DATA,
          "inputs", DATA,
          "service", "gpush does not serve models",
          "pool", "a session is no pool");

  private static final Set<String> WITHOUT_EFFECT =
      Set.of("config", "experimental", "event_callback", "outputs", "time_estimator", "estimated");

  private final String file;
  private final List<BadLine> bad = new ArrayList<>();
  private final List<String> unused = new ArrayList<>();
  private final Map<String, String> variables = new LinkedHashMap<>();
  private final Map<String, BadLine> missing = new LinkedHashMap<>();
  private Optional<Integer> nodes = Optional.empty();
  private Optional<GpuRequest> gpus = Optional.empty();
  private String setup = "";
  private Optional<String> run = Optional.empty();

  private SkyTask(String file) {
    this.file = file;
  }

  /**
   * @param file its name in failures
   */
  static TaskFile read(String file, byte[] bytes) {
    return new SkyTask(file).read(YamlReader.read(bytes));
  }

  private TaskFile read(YamlReader.Reading reading) {
    reading.flaws().forEach(flaw -> bad.add(new BadLine(flaw.at().line(), flaw.what())));
    reading.content().stream().flatMap(content -> content.entries().stream()).forEach(this::take);
    if (bad.isEmpty() && run.isEmpty()) {
      bad.add(new BadLine(1, "it has no run:, so there is nothing to run"));
    }
    if (!bad.isEmpty()) {
      throw new GpushException(new UsageFailure.BadCommands(file, bad));
    }
    return new TaskFile(
        nodes,
        gpus,
        List.of("bash", "-c", SHELL, file, setup, run.orElseThrow()),
        variables,
        missing,
        unused);
  }

  private void take(Yaml.Entry entry) {
    String key = entry.key();
    switch (key) {
      case "name" -> {}
      case "setup" -> text(entry).ifPresent(text -> setup = text);
      case "run" -> run = text(entry);
      case "num_nodes" -> nodes = text(entry).flatMap(text -> count(entry, text));
      case "workdir" ->
          text(entry)
              .filter(folder -> !folder.equals(".") && !folder.equals("./"))
              .ifPresent(
                  folder ->
                      wrong(
                          entry,
                          "workdir: "
                              + folder
                              + " is not possible here: a run starts where you are in the"
                              + " workspace; cd there, and leave workdir out"));
      case "envs", "secrets" -> children(entry).forEach(this::variable);
      case "resources" -> children(entry).forEach(this::resource);
      default -> {
        Optional<String> why = Optional.ofNullable(REFUSED.get(key));
        if (why.isPresent()) {
          wrong(entry, key + " is not possible here: " + why.get());
        } else if (WITHOUT_EFFECT.contains(key)) {
          unused.add(key + " (line " + entry.at().line() + ")");
        } else {
          wrong(entry, "a task has no key " + key);
        }
      }
    }
  }

  private void resource(Yaml.Entry entry) {
    String key = entry.key();
    if (key.equals("accelerators")) {
      accelerators(entry);
    } else if (key.equals("ports")) {
      unused.add("resources.ports (ssh -L forwards a port of a node)");
    } else if (RENTED.contains(key)) {
      unused.add("resources." + key + " (" + CLOUD + ")");
    } else if (key.equals("any_of") || key.equals("ordered")) {
      wrong(entry, "resources." + key + " is not possible here: a session has one kind of node");
    } else {
      wrong(entry, "resources has no key " + key);
    }
  }

  private void accelerators(Yaml.Entry entry) {
    Optional<String> asked =
        switch (entry.value()) {
          case Yaml.Scalar scalar ->
              scalar.isNothing() ? Optional.empty() : Optional.of(scalar.text());
          case Yaml.Mapping(_, var kinds) when kinds.size() == 1 ->
              text(kinds.getFirst()).map(count -> kinds.getFirst().key() + ":" + count);
          case Yaml.Mapping _, Yaml.Sequence _ -> {
            wrong(entry, "accelerators: a session has one kind of GPU, so name one");
            yield Optional.empty();
          }
        };
    try {
      gpus = asked.map(GpuRequest::parse);
    } catch (GpushException unusable) {
      String rule =
          unusable.failure() instanceof UsageFailure.BadValue(_, _, var why)
              ? "; it must be " + why
              : "";
      wrong(entry, "accelerators cannot be '" + asked.orElse("") + "'" + rule);
    }
  }

  private void variable(Yaml.Entry entry) {
    if (entry.value() instanceof Yaml.Scalar scalar && scalar.isNothing()) {
      missing.put(
          entry.key(),
          new BadLine(
              entry.at().line(), entry.key() + " has no value; give it with --env " + entry.key()));
    } else {
      text(entry).ifPresent(text -> variables.put(entry.key(), text));
    }
  }

  private Optional<Integer> count(Yaml.Entry entry, String text) {
    if (text.matches("[1-9][0-9]{0,3}") && Integer.parseInt(text) <= GangRequest.MAX_NODES) {
      return Optional.of(Integer.valueOf(text));
    }
    wrong(entry, "num_nodes must be between 1 and " + GangRequest.MAX_NODES + ", not " + text);
    return Optional.empty();
  }

  private List<Yaml.Entry> children(Yaml.Entry entry) {
    return switch (entry.value()) {
      case Yaml.Mapping mapping -> mapping.entries();
      case Yaml.Scalar scalar when scalar.isNothing() -> List.of();
      case Yaml.Scalar _, Yaml.Sequence _ -> {
        wrong(entry, entry.key() + " must be a mapping");
        yield List.of();
      }
    };
  }

  private Optional<String> text(Yaml.Entry entry) {
    if (entry.value() instanceof Yaml.Scalar scalar) {
      return scalar.isNothing() ? Optional.empty() : Optional.of(scalar.text());
    }
    wrong(entry, entry.key() + " must be a text");
    return Optional.empty();
  }

  private void wrong(Yaml.Entry entry, String what) {
    bad.add(new BadLine(entry.at().line(), what));
  }
}
