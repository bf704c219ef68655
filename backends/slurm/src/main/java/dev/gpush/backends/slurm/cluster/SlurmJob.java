package dev.gpush.backends.slurm.cluster;

import dev.gpush.backends.remote.ClusterText;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job as squeue describes it.
 *
 * @param id of a task of an array, or of a part of a heterogeneous job, the number before it
 * @param nodes those that it has, as Slurm's list of hosts; empty while it waits
 */
public record SlurmJob(
    long id,
    Size size,
    Label label,
    Status status,
    String partition,
    Times times,
    String nodes,
    long priority) {
  /**
   * How much it is.
   *
   * @param tasks how many jobs it stands for, because an array that waits is one line; 0 for a part
   *     of a heterogeneous job
   * @param nodes of one task
   * @param gpus of each node; 0 if it asks for none, or not by node
   */
  public record Size(long tasks, long nodes, long gpus) {
    /** Of all tasks. */
    public long allNodes() {
      return Math.max(1, tasks) * nodes;
    }

    /** Of all tasks. */
    public long allGpus() {
      return allNodes() * gpus;
    }
  }

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
      String.join(
          BETWEEN, "%i", "%j", "%u", "%T", "%r", "%P", "%S", "%N", "%L", "%Q", "%D", "%b", "%k");

  private static final int FIELDS = 13;

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

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

  private static final Pattern NODES = Pattern.compile("[0-9]{1,6}");

  /** {@code gpu}, {@code gres:gpu:h100:8}, {@code gres/gpu:8}. */
  private static final Pattern GPUS =
      Pattern.compile("(?:gres[:/])?gpu(?:[:=][^:=]+?)??(?:[:=]([0-9]{1,3}))?");

  /** {@code 123_7}, {@code 123_[1-50,60%5]}, {@code 123+0}. */
  private static final Pattern PART = Pattern.compile("([0-9]{1,18})([_+].*)");

  /** Of a list of tasks: {@code 7}, {@code 1-50}, {@code 1-50:2}. */
  private static final Pattern RANGE =
      Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?");

  /**
   * Jobs that can be gpush's own: no arrays and no heterogeneous jobs. Skips lines that are not
   * jobs (banners, cluster headings).
   */
  public static List<SlurmJob> parse(String text) {
    return text.lines()
        .flatMap(line -> line(line).stream())
        .filter(each -> NUMBER.matcher(each.written()).matches())
        .map(Line::job)
        .toList();
  }

  /** All users' jobs. */
  public static List<SlurmJob> parseAll(String text) {
    return text.lines().flatMap(line -> line(line).stream()).map(Line::job).toList();
  }

  /** The number of jobs; those parts of a heterogeneous job that are listed are one. */
  public static long count(List<SlurmJob> listed) {
    return listed.stream().mapToLong(job -> job.size().tasks()).sum()
        + listed.stream()
            .filter(job -> job.size().tasks() == 0)
            .mapToLong(SlurmJob::id)
            .distinct()
            .count();
  }

  /** How many tasks are in what follows the number of a job. */
  private static long tasks(String part) {
    if (!part.startsWith("_[")) {
      return part.startsWith("+") ? 0 : 1;
    }
    long tasks = 0;
    for (String each : part.substring(2).replaceFirst("[%\\]].*", "").split(",", -1)) {
      Matcher range = RANGE.matcher(each);
      if (range.matches()) {
        long first = Long.parseLong(range.group(1));
        long last = Optional.ofNullable(range.group(2)).map(Long::parseLong).orElse(first);
        long step = Optional.ofNullable(range.group(3)).map(Long::parseLong).orElse(1L);
        tasks += Math.max(0, last - first) / Math.max(1, step) + 1;
      }
    }
    return Math.max(1, tasks);
  }

  private static long gpus(String asked) {
    return Arrays.stream(asked.split(","))
        .map(GPUS::matcher)
        .filter(Matcher::matches)
        .mapToLong(gpu -> gpu.group(1) == null ? 1 : Long.parseLong(gpu.group(1)))
        .sum();
  }

  /**
   * A line of squeue.
   *
   * @param written the id as squeue writes it
   */
  private record Line(String written, SlurmJob job) {}

  private static Optional<Line> line(String line) {
    String[] words = line.split(BETWEEN, FIELDS);
    String written = words[0].strip();
    Matcher part = PART.matcher(written);
    boolean isPart = part.matches();
    if (words.length < FIELDS || !(isPart || NUMBER.matcher(written).matches())) {
      return Optional.empty();
    }
    List<String> fields = Arrays.stream(words).map(String::strip).toList();
    String priority = fields.get(9);
    var job =
        new SlurmJob(
            Long.parseLong(isPart ? part.group(1) : written),
            new Size(
                isPart ? tasks(part.group(2)) : 1,
                NODES.matcher(fields.get(10)).matches() ? Long.parseLong(fields.get(10)) : 0,
                gpus(fields.get(11))),
            new Label(fields.get(1), fields.get(2), fields.get(12)),
            new Status(fields.get(3), fields.get(4)),
            fields.get(5),
            new Times(fields.get(6), fields.get(8)),
            fields.get(7),
            NUMBER.matcher(priority).matches() ? Long.parseLong(priority) : 0);
    return Optional.of(new Line(written, job));
  }

  public boolean hasEnded() {
    return ENDED.contains(status.state());
  }

  public boolean isWaiting() {
    return WAITING.contains(status.state());
  }

  /** It waits, and the scheduler considers it before the other one. */
  public boolean comesBefore(SlurmJob other) {
    return isWaiting()
        && (priority > other.priority() || (priority == other.priority() && id < other.id()));
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
