package dev.gpush.backends.slurm.cluster;

import dev.gpush.backends.remote.ClusterText;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A job as squeue describes it.
 *
 * @param nodes those that it has, as Slurm's list of hosts; empty while it waits
 */
public record SlurmJob(
    long id,
    Label label,
    Status status,
    String partition,
    Times times,
    String nodes,
    long priority) {
  /** Who submitted it, and what is written on it. */
  public record Label(String name, String user, String comment) {}

  /**
   * How it stands.
   *
   * @param reason why it is in this state
   */
  public record Status(String state, String reason) {}

  /**
   * As squeue writes them.
   *
   * @param start when it began, or may begin
   * @param left until its limit
   */
  public record Times(String start, String left) {}

  /** What no name, reason or comment holds. */
  private static final String BETWEEN = "\u001f";

  /** For squeue -o; {@link #line} reads the fields in this order. */
  public static final String FORMAT =
      String.join(BETWEEN, "%i", "%j", "%u", "%T", "%r", "%P", "%S", "%N", "%L", "%Q", "%k");

  private static final int FIELDS = 11;

  private static final Set<String> ENDED =
      Set.of(
          "COMPLETED",
          "CANCELLED",
          "FAILED",
          "TIMEOUT",
          "NODE_FAIL",
          "PREEMPTED",
          "BOOT_FAIL",
          "DEADLINE",
          "OUT_OF_MEMORY",
          "REVOKED");

  private static final Set<String> WAITING =
      Set.of(
          "PENDING",
          "REQUEUED",
          "REQUEUE_HOLD",
          "REQUEUE_FED",
          "SPECIAL_EXIT",
          "RESV_DEL_HOLD",
          "EXPEDITING");

  /** Skips lines that are not jobs (banners, cluster headings). */
  public static List<SlurmJob> parse(String text) {
    return text.lines().map(SlurmJob::line).flatMap(Optional::stream).toList();
  }

  private static Optional<SlurmJob> line(String line) {
    String[] words = line.split(BETWEEN, FIELDS);
    // A task of an array is not gpush's, and its id is not a number.
    if (words.length < FIELDS || !words[0].strip().matches("[0-9]{1,18}")) {
      return Optional.empty();
    }
    List<String> fields = Arrays.stream(words).map(String::strip).toList();
    String priority = fields.get(9);
    return Optional.of(
        new SlurmJob(
            Long.parseLong(fields.get(0)),
            new Label(fields.get(1), fields.get(2), fields.get(10)),
            new Status(fields.get(3), fields.get(4)),
            fields.get(5),
            new Times(fields.get(6), fields.get(8)),
            fields.get(7),
            priority.matches("[0-9]{1,18}") ? Long.parseLong(priority) : 0));
  }

  public boolean hasEnded() {
    return ENDED.contains(status.state());
  }

  public boolean isWaiting() {
    return WAITING.contains(status.state());
  }

  /** It has its nodes, and the script runs or is about to. */
  public boolean isRunning() {
    return status.state().equals("RUNNING");
  }

  public String words() {
    return "slurm job " + id;
  }

  /** How it ended, in words. */
  public String fate() {
    return words()
        + switch (status.state()) {
          case "COMPLETED" -> " ended: its lease was over";
          case "CANCELLED" -> " was cancelled";
          case "TIMEOUT" -> " ran into its time limit";
          case "PREEMPTED" -> " was preempted by a job with a higher priority";
          case "NODE_FAIL" -> " ended because one of its nodes failed";
          case "BOOT_FAIL" -> " ended because one of its nodes did not boot";
          case "OUT_OF_MEMORY" -> " used more memory than it requested";
          case "DEADLINE" -> " could not finish before its deadline";
          case "FAILED" ->
              " ended before its lease: Slurm told its agents to end, as when a job with a higher"
                  + " priority comes, or they failed";
          case "REVOKED" -> " went to another cluster of the federation";
          default -> " is " + ClusterText.clean(status.state());
        };
  }
}
