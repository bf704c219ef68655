package dev.gpush.backends.slurm.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** A node as {@code scontrol show node -d} prints it; memory in megabytes. */
public record SlurmNode(
    String name,
    String address,
    Set<String> states,
    List<Gres> gpus,
    List<Gres> used,
    int cpus,
    int cpusUsed,
    int memory,
    int memoryUsed,
    Set<String> features,
    Set<String> partitions,
    String reason) {
  private static final Set<String> OUT =
      Set.of("DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "NO_RESPOND", "MAINT");

  public SlurmNode {
    states = Set.copyOf(states);
    gpus = List.copyOf(gpus);
    used = List.copyOf(used);
    features = Set.copyOf(features);
    partitions = Set.copyOf(partitions);
  }

  public static List<SlurmNode> parse(String text) {
    return Scontrol.lines(text, "NodeName").stream().map(SlurmNode::of).toList();
  }

  private static SlurmNode of(Scontrol line) {
    String name = line.word("NodeName").orElse("");
    return new SlurmNode(
        name,
        line.word("NodeAddr").orElse(name),
        // "IDLE+DRAIN", "DOWN*": the sign means that the node does not answer, or is powered down.
        words(line.word("State").orElse(""), "\\+").stream()
            .map(word -> word.replaceAll("[^A-Z_]", ""))
            .collect(Collectors.toSet()),
        Gres.parse(line.word("Gres").orElse("")),
        Gres.parse(line.word("GresUsed").orElse("")),
        Math.max(line.number("CPUEfctv"), line.number("CPUTot")),
        line.number("CPUAlloc"),
        line.number("RealMemory"),
        line.number("AllocMem"),
        words(line.word("AvailableFeatures").orElse(""), ","),
        words(line.word("Partitions").orElse(""), ","),
        line.text("Reason").orElse(""));
  }

  private static Set<String> words(String text, String separator) {
    return Arrays.stream(text.split(separator, -1))
        .map(String::strip)
        .filter(word -> !word.isEmpty())
        .collect(Collectors.toSet());
  }

  /** Whether it accepts jobs at all. */
  public boolean isIn() {
    return states.stream().noneMatch(OUT::contains);
  }
}
