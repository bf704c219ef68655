package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.cluster.WaitReason;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The state of a waiting job, in words: its place in the queue, when the scheduler expects to start
 * it, and the reason; its number last, because a narrow window cuts the end. The words stay the
 * same as long as nothing happens. The whole queue is read only occasionally.
 */
final class Prospect {
  private static final Duration BETWEEN = Duration.ofSeconds(10);

  /** No estimate is more exact, and one that moves by less is the same. */
  private static final Duration STEP = Duration.ofMinutes(5);

  private static final Duration WEEK = Duration.ofDays(6);

  private final Site site;
  private long nextLook;
  private String place = "";
  private Optional<Times> times = Optional.empty();
  private Optional<Instant> said = Optional.empty();

  /** One moment by both clocks; that of the cluster may be wrong, or in another zone. */
  private record Times(LocalDateTime there, Instant here) {
    Instant here(LocalDateTime moment) {
      return here.plus(Duration.between(there, moment));
    }
  }

  Prospect(Site site) {
    this.site = site;
    this.nextLook = site.time().nanos();
  }

  String words(SlurmJob job, WaitReason reason) throws InterruptedException, Unanswered {
    if (!job.isWaiting()) {
      return job.status().state().equals("CONFIGURING")
          ? "granted; its nodes are booting"
          : job.words() + " is " + ClusterText.clean(job.status().state()).toLowerCase(Locale.ROOT);
    }
    if (site.time().nanos() - nextLook >= 0) {
      look(job);
      nextLook = site.time().nanos() + BETWEEN.toNanos();
    }
    said = estimate(job);
    var parts = List.of(place, said.map(this::about).orElse(""), reason.words(), job.words());
    return String.join(" · ", parts.stream().filter(part -> !part.isEmpty()).toList());
  }

  private Optional<Instant> estimate(SlurmJob job) {
    Instant now = site.time().now();
    return times
        .flatMap(seen -> SlurmTime.moment(job.times().start()).map(seen::here))
        .filter(start -> !start.isBefore(now))
        .map(
            start ->
                said.filter(before -> !before.isBefore(now))
                    .filter(before -> Duration.between(before, start).abs().compareTo(STEP) < 0)
                    .orElseGet(() -> roundedUp(start)));
  }

  private static Instant roundedUp(Instant time) {
    long step = STEP.toSeconds();
    return Instant.ofEpochSecond(Math.ceilDiv(time.getEpochSecond(), step) * step);
  }

  /** "≈14:20", "≈Tue 03:10", "≈2026-12-24". */
  private String about(Instant start) {
    ZonedDateTime at = start.atZone(site.time().zone());
    ZonedDateTime now = site.time().now().atZone(site.time().zone());
    String pattern =
        at.toLocalDate().equals(now.toLocalDate())
            ? "HH:mm"
            : Duration.between(now, at).compareTo(WEEK) < 0 ? "EEE HH:mm" : "uuuu-MM-dd";
    return "≈" + DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(at);
  }

  private void look(SlurmJob job) throws InterruptedException, Unanswered {
    List<SlurmJob> waiting =
        site.queue().everybody(job.partition()).stream().filter(SlurmJob::isWaiting).toList();
    long before = SlurmJob.count(waiting.stream().filter(other -> other.comesBefore(job)).toList());
    long all = SlurmJob.count(waiting);
    place = all > 1 ? (before + 1) + " of " + all : "";
    times = site.clock().map(there -> new Times(there, site.time().now()));
  }
}
