package dev.gpush.backends.slurm;

import dev.gpush.backends.floor.NotTold;
import dev.gpush.core.backend.GangId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Our jobs in the queue. The name is what a job is known by: comments are rewritten at some sites.
 */
final class Queue {
  static final String PREFIX = "gpush-";

  private final SlurmCommands commands;
  private final Login login;

  Queue(SlurmCommands commands, Login login) {
    this.commands = commands;
    this.login = login;
  }

  static String name(GangId gang) {
    return PREFIX + gang.text();
  }

  /** The jobs of a gang that Slurm still knows, ended ones too, the oldest first. */
  List<Job> of(GangId gang) throws InterruptedException, NotTold {
    return mine("--name=" + name(gang)).stream()
        .filter(job -> job.name().equals(name(gang)))
        .toList();
  }

  /** All of ours that hold nodes or wait for some. */
  List<Job> all() throws InterruptedException, NotTold {
    return mine().stream()
        .filter(job -> job.name().matches(PREFIX + "[0-9a-f]{16}") && !job.hasEnded())
        .toList();
  }

  private List<Job> mine(String... more) throws InterruptedException, NotTold {
    var command =
        new ArrayList<>(
            List.of("squeue", "-h", "-t", "all", "-u", login.facts().user(), "-o", Job.FORMAT));
    command.addAll(List.of(more));
    return Job.parse(commands.read(command)).stream()
        .sorted(Comparator.comparingLong(Job::id))
        .toList();
  }

  /** Everybody's jobs that have nodes in a partition, or wait for some. */
  List<Job> everybody(String partitions) throws InterruptedException, NotTold {
    var command =
        new ArrayList<>(
            List.of(
                "squeue", "-h", "-t", "PENDING,RUNNING,COMPLETING,CONFIGURING", "-o", Job.FORMAT));
    if (!partitions.isEmpty()) {
      command.addAll(List.of("-p", partitions));
    }
    return Job.parse(commands.read(command));
  }

  /** Which one of several: the oldest is the gang, whatever came of a reply that was lost. */
  static Optional<Job> living(List<Job> jobs) {
    return jobs.stream().filter(job -> !job.hasEnded()).findFirst();
  }
}
