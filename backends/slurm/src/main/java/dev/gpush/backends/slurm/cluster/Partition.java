package dev.gpush.backends.slurm.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A partition as {@code scontrol show partition} prints it.
 *
 * @param grace between a job's preemption notice and its end
 */
public record Partition(
    String name,
    boolean isDefault,
    String state,
    Optional<Duration> mostTime,
    Optional<Duration> usualTime,
    int mostNodes,
    Duration grace) {
  public static List<Partition> parse(String text) {
    return Scontrol.lines(text, "PartitionName").stream().map(Partition::of).toList();
  }

  private static Partition of(Scontrol line) {
    int most = line.number("MaxNodes");
    return new Partition(
        line.word("PartitionName").orElse(""),
        line.word("Default").orElse("NO").equals("YES"),
        line.word("State").orElse("UP"),
        line.word("MaxTime").flatMap(SlurmTime::span),
        line.word("DefaultTime").flatMap(SlurmTime::span),
        most == 0 ? Integer.MAX_VALUE : most,
        Duration.ofSeconds(line.number("GraceTime")));
  }

  public boolean allows(Duration time) {
    return mostTime.map(most -> time.compareTo(most) <= 0).orElse(true);
  }
}
