package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.ClusterText;
import java.util.List;
import java.util.Locale;

/**
 * Why sbatch refused a job.
 *
 * @param words for the user
 * @param works requests that would be granted, or a command that shows more
 * @param isHopeless the same request would be refused again
 */
public record SbatchRefusal(String words, List<String> works, boolean isHopeless) {
  private static final String NO_NODES = "no nodes there have all of this";
  private static final String SILENT = "the controller does not answer";

  /** In the error of any Slurm program that uses another cluster. */
  static final String NO_ACCOUNTING = "talking to the database";

  static final String NO_CLUSTER = "known by database";
  static final String NO_SUCH_CLUSTER = "there is no such cluster";
  static final String ACCOUNTING_SILENT =
      "Slurm's accounting daemon, which has the addresses of other clusters, does not answer";

  private static final String NOTHING_SAID = "Unspecified error";

  public SbatchRefusal {
    works = List.copyOf(works);
  }

  private record Rule(String part, String words, String works, boolean isHopeless) {}

  private static final String PARTITIONS = "sinfo -s";

  /** The first rule whose part occurs in sbatch's error, in lower case, applies. */
  private static final List<Rule> RULES =
      List.of(
          never("invalid partition name", "the cluster has no such partition", PARTITIONS),
          never(
              "no partition specified",
              "the cluster has no default partition; name one under partition:",
              PARTITIONS),
          never(
              "group not permitted to use this partition",
              "your group may not use this partition",
              PARTITIONS),
          never(
              "required partition not available (inactive or drain)",
              "the partition accepts no jobs now: it is inactive or draining",
              PARTITIONS),
          passing("partition in down state", "the partition is down"),
          passing(
              "partition configuration not available now", "the partition cannot grant this now"),
          never(
              "more processors requested than permitted",
              "it asks for more CPUs than allowed",
              PARTITIONS),
          never(
              "node count specification invalid",
              "the partition does not allow one job that many nodes",
              PARTITIONS),
          never("requested node configuration is not available", NO_NODES, PARTITIONS),
          passing("requested nodes are busy", "the requested nodes are busy"),
          passing("required node not available", "a requested node is down, drained or reserved"),
          never(
              "invalid account",
              "the account does not exist, or is not yours in this partition",
              "sacctmgr show associations user=$USER"),
          never(
              "invalid qos",
              "the quality of service does not exist or is not yours",
              "sacctmgr show qos"),
          never(
              "invalid generic resource",
              "the cluster has no such generic resource",
              "sinfo -o %G"),
          never(
              "invalid trestype or gres",
              "the cluster has no such generic resource",
              "sinfo -o %G"),
          never("invalid feature specification", "no node has this feature", "sinfo -o %f"),
          never(
              "job violates accounting/qos policy",
              "it is over a limit of your account: jobs submitted, size or time",
              "sacctmgr show associations user=$USER"),
          never(
              "requested time limit is invalid",
              "the time is missing or over the limit of the partition",
              PARTITIONS),
          never(
              "access denied to requested reservation",
              "the reservation is not for you",
              "scontrol show reservation"),
          never(
              "requested reservation is invalid",
              "there is no such reservation",
              "scontrol show reservation"),
          never(
              "requested topology configuration",
              "the requested switches are not available",
              "scontrol show topology"),
          never(
              "invalid license specification",
              "the cluster has no such license",
              "scontrol show licenses"),
          never("invalid node name", "there is no node with that name", "sinfo -N"),
          never(
              "memory specification can not be satisfied",
              "no node has that much memory",
              PARTITIONS),
          never(
              "unrecognized option",
              "this Slurm does not know an option under native:",
              "sbatch --help"),
          never(NO_CLUSTER, NO_SUCH_CLUSTER, "sacctmgr list clusters"),
          passing(NO_ACCOUNTING, ACCOUNTING_SILENT),
          passing("unable to contact slurm controller", SILENT),
          passing("socket timed out", SILENT),
          passing(
              "slurm temporarily unable to accept job",
              "the controller accepts no jobs at the moment"),
          passing(
              "resource temporarily unavailable", "the controller accepts no jobs at the moment"));

  private static Rule never(String part, String words, String works) {
    return new Rule(part, words, works, true);
  }

  private static Rule passing(String part, String words) {
    return new Rule(part, words, "", false);
  }

  /**
   * The first rule that matches, else the last line.
   *
   * @param errors its stderr
   */
  public static SbatchRefusal of(String errors) {
    String said = errors.toLowerCase(Locale.ROOT);
    for (Rule rule : RULES) {
      if (said.contains(rule.part())) {
        return new SbatchRefusal(
            rule.words(),
            rule.works().isEmpty() ? List.of() : List.of(rule.works()),
            rule.isHopeless());
      }
    }
    // The message of a site's own rules comes before the last line, which is then useless.
    String last =
        errors
            .lines()
            .map(
                line ->
                    line.replaceFirst(
                        "^(sbatch: )?(error: |fatal: )?(Batch job submission failed: )?", ""))
            .filter(line -> !line.isBlank())
            .reduce((before, line) -> line.equals(NOTHING_SAID) ? before : line)
            .filter(line -> !line.equals(NOTHING_SAID))
            .orElse("sbatch gave no reason");
    return new SbatchRefusal("sbatch says: " + ClusterText.clean(last), List.of(), false);
  }

  /** It says that no such nodes are available in their present state. */
  public boolean isAboutNodes() {
    return words.equals(NO_NODES);
  }

  /** The controller may have accepted the job, and the answer was lost. */
  public boolean mayHaveArrived() {
    return words.equals(SILENT) || words.equals(ACCOUNTING_SILENT);
  }
}
