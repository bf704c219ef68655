package dev.gpush.backends.slurm.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A node as {@code scontrol show node -d} describes it.
 *
 * @param used the GPUs that jobs have now
 */
public record SlurmNode(
    String name,
    String address,
    Set<String> states,
    Resources resources,
    List<Gres> used,
    Set<String> features,
    Set<String> partitions) {
  private static final Set<String> OUT =
      Set.of("DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "NO_RESPOND", "MAINT");

  /**
   * All that jobs can have, whether free or not.
   *
   * @param memory in megabytes, without what the site reserves for the system; 1 where the site has
   *     not configured it
   */
  public record Resources(List<Gres> gpus, int cpus, int memory) {
    public Resources {
      gpus = List.copyOf(gpus);
    }
  }

  public SlurmNode {
    states = Set.copyOf(states);
    used = List.copyOf(used);
    features = Set.copyOf(features);
    partitions = Set.copyOf(partitions);
  }

  public static List<SlurmNode> parse(String text) {
    return Scontrol.lines(text, "NodeName").stream().map(SlurmNode::of).toList();
  }

  private static SlurmNode of(Scontrol line) {
    String name = line.word("NodeName").orElse("");
    // Without the CPUs that the site reserves for the system; old releases do not have the field.
    int effective = line.number("CPUEfctv");
    return new SlurmNode(
        name,
        line.word("NodeAddr").orElse(name),
        // "IDLE+DRAIN", "DOWN*": the sign means that the node does not answer, or is powered down.
        words(line.word("State").orElse(""), "\\+").stream()
            .map(word -> word.replaceAll("[^A-Z_]", ""))
            .collect(Collectors.toSet()),
        new Resources(
            Gres.parse(line.word("Gres").orElse("")),
            effective > 0 ? effective : line.number("CPUTot"),
            line.number("RealMemory") - line.number("MemSpecLimit")),
        Gres.parse(line.word("GresUsed").orElse("")),
        words(line.word("AvailableFeatures").orElse(""), ","),
        words(line.word("Partitions").orElse(""), ","));
  }

  private static Set<String> words(String text, String separator) {
    return Arrays.stream(text.split(separator, -1))
        .map(String::strip)
        .filter(word -> !word.isEmpty())
        .collect(Collectors.toSet());
  }

  public List<Gres> gpus() {
    return resources.gpus();
  }

  public int cpus() {
    return resources.cpus();
  }

  /** In megabytes. */
  public int memory() {
    return resources.memory();
  }

  /** Whether it takes jobs at all. */
  public boolean isInService() {
    return states.stream().noneMatch(OUT::contains);
  }
}
