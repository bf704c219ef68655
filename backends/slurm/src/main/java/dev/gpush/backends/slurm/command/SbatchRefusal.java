package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.ClusterText;
import java.util.List;
import java.util.Locale;

/**
 * Why sbatch did not take a job.
 *
 * @param words for people
 * @param works what to ask instead, or a command that tells more
 * @param isHopeless asking the same again would be refused again
 */
public record SbatchRefusal(String words, List<String> works, boolean isHopeless) {
  private static final String NO_NODES = "no set of nodes there has all this";
  private static final String SILENT = "the controller does not answer";

  /** In what any of Slurm's programs says that is turned to another cluster. */
  static final String NO_ACCOUNTING = "talking to the database";

  static final String NO_CLUSTER = "known by database";
  static final String NO_SUCH_CLUSTER = "there is no such cluster";
  static final String ACCOUNTING_SILENT =
      "Slurm's accounting daemon, which knows the way to other clusters, does not answer";

  private static final String NOTHING_SAID = "Unspecified error";

  public SbatchRefusal {
    works = List.copyOf(works);
  }

  private record Rule(String part, String words, String works, boolean isHopeless) {}

  private static final String PARTITIONS = "sinfo -s";

  /** The first whose part occurs in what sbatch said, in lower case. */
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
              "the partition takes no jobs now: it is switched off or being emptied",
              PARTITIONS),
          passing("partition in down state", "the partition is down"),
          passing(
              "partition configuration not available now", "the partition cannot give this now"),
          never(
              "more processors requested than permitted",
              "it asks for more CPUs than allowed",
              PARTITIONS),
          never(
              "node count specification invalid",
              "the partition does not give so many nodes to one job",
              PARTITIONS),
          never("requested node configuration is not available", NO_NODES, PARTITIONS),
          passing("requested nodes are busy", "the nodes that were named are busy"),
          passing(
              "required node not available", "a node that was named is down, drained or reserved"),
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
              "the switches cannot be had as asked",
              "scontrol show topology"),
          never(
              "invalid license specification",
              "the cluster has no such license",
              "scontrol show licenses"),
          never("invalid node name", "there is no node of that name", "sinfo -N"),
          never(
              "memory specification can not be satisfied",
              "no node has so much memory",
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
              "the controller takes no jobs at the moment"),
          passing(
              "resource temporarily unavailable", "the controller takes no jobs at the moment"));

  private static Rule never(String part, String words, String works) {
    return new Rule(part, words, works, true);
  }

  private static Rule passing(String part, String words) {
    return new Rule(part, words, "", false);
  }

  /**
   * The first rule that knows it, else its own last words.
   *
   * @param errors what it said on stderr
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
    // What a site's own rules say comes before the last line, which then says nothing.
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

  /** It says that there are no such nodes, in a state in which they could be had. */
  public boolean isAboutNodes() {
    return words.equals(NO_NODES);
  }

  /** The controller may have taken the job and not have said so. */
  public boolean mayHaveArrived() {
    return words.equals(SILENT) || words.equals(ACCOUNTING_SILENT);
  }
}
