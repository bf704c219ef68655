package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.JobOrder;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.gang.GangId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/**
 * The user's jobs in the queue, also those in hidden partitions. They are recognized by name,
 * because some sites rewrite comments.
 */
public final class SlurmQueue {
  public static final String PREFIX = "gpush-";

  /**
   * The user's profile may have variables that restrict the list, or repeat jobs in it. The tasks
   * of an array are cut after 64 characters unless all are asked for.
   */
  private static final List<String> SQUEUE =
      List.of(
          "env",
          "-u",
          "SQUEUE_ACCOUNT",
          "-u",
          "SQUEUE_LICENSES",
          "-u",
          "SQUEUE_NAMES",
          "-u",
          "SQUEUE_PARTITION",
          "-u",
          "SQUEUE_PRIORITY",
          "-u",
          "SQUEUE_QOS",
          "-u",
          "SQUEUE_USERS",
          "SLURM_BITSTR_LEN=0",
          "squeue",
          "-a",
          "-h",
          "-o",
          SlurmJob.FORMAT);

  private static final Pattern PRIVATE_JOBS =
      Pattern.compile("PrivateData *= *(?:.*,)?(?:jobs|all)(?:,.*)?");

  private final SlurmCommands commands;
  private final LoginNode login;
  private final AtomicReference<Optional<Boolean>> hidesOthers =
      new AtomicReference<>(Optional.empty());

  public SlurmQueue(SlurmCommands commands, LoginNode login) {
    this.commands = commands;
    this.login = login;
  }

  public static String name(GangId gang) {
    return PREFIX + gang.text();
  }

  /** The jobs of a gang that Slurm still knows, ended ones too, the oldest first. */
  public List<SlurmJob> of(GangId gang) throws InterruptedException, Unanswered {
    return mine("--name=" + name(gang)).stream()
        .filter(job -> job.label().name().equals(name(gang)))
        .toList();
  }

  /** All jobs of gpush that hold nodes or wait for some. */
  public List<SlurmJob> all() throws InterruptedException, Unanswered {
    return mine().stream()
        .filter(job -> job.label().name().matches(PREFIX + "[0-9a-f]{16}") && !job.hasEnded())
        .toList();
  }

  private List<SlurmJob> mine(String... more) throws InterruptedException, Unanswered {
    var command = new ArrayList<>(SQUEUE);
    command.addAll(List.of("-t", "all", "-u", login.facts().user()));
    command.addAll(List.of(more));
    return SlurmJob.parse(commands.read("squeue", command)).stream()
        .sorted(Comparator.comparingLong(SlurmJob::id))
        .toList();
  }

  /** All users' jobs that have nodes in a partition, or wait for some. */
  public List<SlurmJob> everybody(String partitions) throws InterruptedException, Unanswered {
    var command = new ArrayList<>(SQUEUE);
    command.addAll(List.of("-t", "PENDING,RUNNING,COMPLETING,CONFIGURING"));
    if (!partitions.isEmpty()) {
      command.addAll(List.of("-p", partitions));
    }
    return SlurmJob.parseAll(commands.read("squeue", command));
  }

  /** The jobs that the scheduler considers before that of a gang, while it waits. */
  public Optional<JobsAhead> ahead(GangId gang) throws InterruptedException, Unanswered {
    Optional<SlurmJob> waiting = living(of(gang)).filter(SlurmJob::isWaiting);
    if (waiting.isEmpty()) {
      return Optional.empty();
    }
    List<SlurmJob> all = everybody(waiting.get().partition());
    var order = new JobOrder(waiting.get(), login.facts().user());
    return Optional.of(order.ahead(all, mayHideOthers()));
  }

  /** Operators see all the same, and coordinators those of their account. Read once. */
  private boolean mayHideOthers() throws InterruptedException, Unanswered {
    if (hidesOthers.get().isEmpty()) {
      hidesOthers.set(
          Optional.of(
              commands
                  .read(List.of("scontrol", "show", "config"))
                  .lines()
                  .anyMatch(line -> PRIVATE_JOBS.matcher(line.strip()).matches())));
    }
    return hidesOthers.get().orElseThrow();
  }

  /** The gang's job: of several, the oldest, because a lost reply may have caused a second one. */
  public static Optional<SlurmJob> living(List<SlurmJob> jobs) {
    return jobs.stream().filter(job -> !job.hasEnded()).findFirst();
  }
}
