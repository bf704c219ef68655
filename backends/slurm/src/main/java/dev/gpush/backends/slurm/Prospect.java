package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.cluster.WaitReason;
import dev.gpush.core.time.DurationText;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;

/**
 * The state of a waiting job, in words: its position in the queue, the scheduler's estimate, and
 * the reason. The whole queue is read only occasionally.
 */
final class Prospect {
  private static final Duration BETWEEN = Duration.ofSeconds(10);

  private final Site site;
  private long nextLook;
  private String place = "";
  private Optional<LocalDateTime> now = Optional.empty();

  Prospect(Site site) {
    this.site = site;
    this.nextLook = site.time().nanos();
  }

  String words(SlurmJob job, WaitReason reason) throws InterruptedException, Unanswered {
    if (!job.isWaiting()) {
      return job.status().state().equals("CONFIGURING")
          ? "granted; its nodes are booting"
          : job.words()
              + " is "
              + ClusterText.clean(job.status().state()).toLowerCase(java.util.Locale.ROOT);
    }
    if (site.time().nanos() - nextLook >= 0) {
      look(job);
      nextLook = site.time().nanos() + BETWEEN.toNanos();
    }
    Optional<Duration> wait =
        SlurmTime.moment(job.times().start())
            .flatMap(start -> now.map(then -> Duration.between(then, start)));
    String estimate =
        wait.filter(time -> !time.isNegative())
            .map(time -> " · in about " + DurationText.coarse(time))
            .orElse("");
    return job.words() + " waits" + place + estimate + " · " + reason.words();
  }

  private void look(SlurmJob job) throws InterruptedException, Unanswered {
    List<SlurmJob> waiting =
        site.queue().everybody(job.partition()).stream().filter(SlurmJob::isWaiting).toList();
    long before =
        waiting.stream()
            .filter(
                other ->
                    other.priority() > job.priority()
                        || (other.priority() == job.priority() && other.id() < job.id()))
            .mapToLong(SlurmJob::tasks)
            .sum();
    long all = waiting.stream().mapToLong(SlurmJob::tasks).sum();
    place = all > 1 ? ", " + (before + 1) + " of " + all : "";
    now = site.clock();
  }
}
