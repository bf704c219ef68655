package dev.gpush.templates.setup;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.text.CleanText;
import dev.gpush.templates.setup.YamlFolder.YamlFile;
import dev.gpush.templates.yaml.Yaml;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A gpush.yaml from what a project has. A key is written only where the project says it without
 * doubt; what depends on the nodes is a comment that the user can switch on.
 */
final class ProjectProposal {
  private static final String HEAD =
      """
      # Facts of this project, to be committed. gpush init wrote this; edit it freely.
      # gpush config shows what counts here.
      """;

  /** Folders for results that people keep out of git. */
  private static final Set<String> RESULTS =
      Set.of("checkpoints", "ckpt", "runs", "outputs", "wandb", "lightning_logs", "mlruns");

  private static final int MOST_BYTES = 64 * 1024;

  private static final int MOST_PORT = 65_535;

  private final Path root;
  private final List<String> keys = new ArrayList<>();
  private final List<String> hints = new ArrayList<>();

  private ProjectProposal(Path root) {
    this.root = root;
  }

  private static boolean isOnPath(String program, String path) {
    return Stream.of(path.split(":", -1))
        .filter(folder -> !folder.isEmpty())
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /**
   * Empty where the project says nothing that gpush does not find by itself.
   *
   * @param path where the user's programs are
   */
  static Optional<String> of(Path root, String path) {
    var proposal = new ProjectProposal(root);
    proposal.python(isOnPath("uv", path));
    proposal.task();
    proposal.outputs();
    if (proposal.keys.isEmpty()) {
      return Optional.empty();
    }
    var text = new StringBuilder(HEAD);
    proposal.keys.forEach(line -> text.append(line).append('\n'));
    proposal.hints.forEach(line -> text.append("# ").append(line).append('\n'));
    return Optional.of(text.toString());
  }

  /** A .venv needs no word: it is found on the nodes. */
  private void python(boolean hasUv) {
    if (Files.isRegularFile(root.resolve("uv.lock"))) {
      (hasUv ? keys : hints)
          .add(
              line("python: uv.lock", "each node gets what uv sync makes of it; uv must be there"));
      return;
    }
    Stream.of("environment.yml", "environment.yaml")
        .flatMap(name -> YamlFolder.read(root.resolve(name)).stream())
        .flatMap(content -> content.text("name").stream())
        .findFirst()
        .ifPresent(
            name ->
                hints.add(
                    line(
                        "python: {conda: " + BackendBlocks.word(name) + "}",
                        "of environment.yml; if the nodes have it")));
  }

  /** What a task of dstack or SkyPilot says, if all that are here say the same. */
  private void task() {
    var images = new LinkedHashMap<String, String>();
    var ports = new LinkedHashMap<String, String>();
    var gangs = new LinkedHashMap<Gang, String>();
    for (YamlFile file : YamlFolder.in(root)) {
      Yaml task = file.content();
      Optional<Yaml> resources = task.get("resources");
      boolean isDstack =
          task.text("type").filter(Set.of("task", "dev-environment")::contains).isPresent();
      boolean isSky = resources.isPresent() && task.text("run").isPresent() && !isDstack;
      if (isDstack) {
        task.text("image").ifPresent(image -> images.put(image, file.name()));
        ports(task).ifPresent(list -> ports.put(list, file.name()));
        gang(task.text("nodes"), resources.flatMap(it -> it.text("gpu")))
            .ifPresent(gang -> gangs.put(gang, file.name()));
      } else if (isSky) {
        resources
            .flatMap(it -> it.text("image_id"))
            .filter(image -> image.startsWith("docker:"))
            .ifPresent(image -> images.put(image.substring("docker:".length()), file.name()));
        gang(task.text("num_nodes"), resources.flatMap(it -> it.text("accelerators")))
            .ifPresent(gang -> gangs.put(gang, file.name()));
      }
    }
    only(images)
        .ifPresentOrElse(
            image ->
                hints.add(
                    line(
                        "image: " + BackendBlocks.word(image.getKey()),
                        "of " + image.getValue() + "; a Slurm cluster needs pyxis for it")),
            this::dockerfile);
    only(ports)
        .ifPresent(
            list ->
                keys.add(
                    line(
                        "ports: [" + list.getKey() + "]",
                        "of " + list.getValue() + "; they get a port of this machine")));
    only(gangs)
        .ifPresent(
            gang -> {
              hints.add(line("nodes: " + gang.getKey().nodes(), "of " + gang.getValue()));
              hints.add(line("gpus: " + gang.getKey().gpus(), "per node"));
            });
  }

  private static <T> Optional<Map.Entry<T, String>> only(Map<T, String> values) {
    return values.size() == 1 ? values.entrySet().stream().findFirst() : Optional.empty();
  }

  /** Ports that are the same on both sides. */
  private static Optional<String> ports(Yaml task) {
    List<String> ports =
        task.items("ports").stream()
            .flatMap(item -> item.asText().stream())
            .filter(text -> text.matches("[1-9][0-9]{0,4}"))
            .filter(text -> Integer.parseInt(text) <= MOST_PORT)
            .distinct()
            .toList();
    return ports.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", ports));
  }

  /** What a task asks for. */
  private record Gang(String nodes, String gpus) {}

  private static Optional<Gang> gang(Optional<String> nodes, Optional<String> gpus) {
    String count = nodes.filter(text -> text.matches("[1-9][0-9]?")).orElse("1");
    return gpus.filter(ProjectProposal::isRequest).map(text -> new Gang(count, text));
  }

  private static boolean isRequest(String text) {
    try {
      GpuRequest.parse(text);
      return text.matches("[A-Za-z][A-Za-z0-9-]*(:[0-9]+)?");
    } catch (GpushException other) {
      return false;
    }
  }

  /** Only what it begins from is known; what the Dockerfile adds is in no registry, perhaps. */
  private void dockerfile() {
    List<String> bases =
        lines("Dockerfile")
            .map(line -> line.strip().split("\\s+"))
            .filter(words -> words.length > 1 && words[0].equalsIgnoreCase("FROM"))
            .map(words -> words[1])
            .toList();
    if (bases.size() == 1 && bases.getFirst().matches("[A-Za-z0-9][A-Za-z0-9._/:@-]*[/:].*")) {
      hints.add(
          line(
              "image: " + BackendBlocks.word(bases.getFirst()),
              "what Dockerfile begins from; better the image that it makes"));
    }
  }

  private void outputs() {
    List<String> ignored =
        lines(".gitignore")
            .map(line -> line.strip().replaceAll("^/|/\\*?$", ""))
            .filter(RESULTS::contains)
            .distinct()
            .toList();
    if (!ignored.isEmpty()) {
      hints.add(
          line(
              "outputs: /PATH",
              "a folder of the nodes for results ($GPUSH_OUTPUT); git ignores "
                  + String.join(", ", ignored)));
    }
  }

  private Stream<String> lines(String name) {
    Path file = root.resolve(name);
    try {
      return Files.isRegularFile(file) && Files.size(file) <= MOST_BYTES
          ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines()
          : Stream.empty();
    } catch (IOException unreadable) {
      return Stream.empty();
    }
  }

  private static String line(String key, String about) {
    return key + "   # " + CleanText.line(about);
  }
}
