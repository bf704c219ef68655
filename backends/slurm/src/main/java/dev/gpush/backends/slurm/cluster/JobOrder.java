package dev.gpush.backends.slurm.cluster;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;

/**
 * The jobs that the scheduler considers before one that waits, by user.
 *
 * @param own the one that waits
 * @param user whose it is
 */
public record JobOrder(SlurmJob own, String user) {
  /** More users are only counted. */
  private static final int MOST = 5;

  /**
   * Reasons of a job that exceeds a limit and so does not take what is free. Limits that users
   * share are not among them, because the other job may wait for the same one.
   */
  private static final Pattern LIMIT =
      Pattern.compile("(?!.*(?:Grp|PerAccount))(?:(?:QOS|Assoc|Max).*|.*Limit)");

  /** Reasons of a job that would not start on an empty cluster. */
  private static final Pattern NOT_READY =
      Pattern.compile("Dependency.*|BeginTime|JobHeld.*|JobHold.*|Reservation.*");

  /** The jobs of one user. */
  private record Group(String user, List<SlurmJob> jobs) {
    private long tasks() {
      return SlurmJob.count(jobs);
    }

    private long tasksFor(Pattern reason) {
      return SlurmJob.count(
          jobs.stream()
              .filter(job -> reason.matcher(job.status().reason().split("[ ,(]", 2)[0]).matches())
              .toList());
    }

    private long sum(ToLongFunction<SlurmJob> number) {
      return jobs.stream().mapToLong(number).sum();
    }

    /** "2 of ann (8 GPUs, held by their own limits)". */
    private String words(String me) {
      var more = new ArrayList<String>();
      more.add(size());
      long limited = tasksFor(LIMIT);
      more.add(share(limited, limited == 1 ? "held by its own limit" : "held by their own limits"));
      more.add(share(tasksFor(NOT_READY), "not ready to start"));
      String said = String.join(", ", more.stream().filter(part -> !part.isEmpty()).toList());
      return Phrase.count(tasks())
          + " of "
          + (user.equals(me) ? "yours" : ClusterText.clean(user))
          + (said.isEmpty() ? "" : " (" + said + ")");
    }

    /** What a job asks for is not always written by node, nor the number of nodes known yet. */
    private String size() {
      long gpus = sum(job -> job.size().allGpus());
      if (gpus == 0) {
        long nodes = sum(job -> job.size().allNodes());
        return nodes == 0 ? "" : "at least " + Phrase.counted(nodes, "node");
      }
      boolean isAll = jobs.stream().allMatch(job -> job.size().gpus() > 0);
      return (isAll ? "" : "at least ") + Phrase.counted(gpus, "GPU");
    }

    private String share(long some, String words) {
      return some == 0 ? "" : some == tasks() ? words : Phrase.count(some) + " " + words;
    }
  }

  /**
   * @param all the jobs in its partitions
   */
  public JobsAhead ahead(List<SlurmJob> all, boolean othersHidden) {
    var byUser = new LinkedHashMap<String, List<SlurmJob>>();
    all.stream()
        .filter(job -> job.comesBefore(own))
        .forEach(
            job -> byUser.computeIfAbsent(job.label().user(), _ -> new ArrayList<>()).add(job));
    List<Group> groups =
        byUser.entrySet().stream()
            .map(each -> new Group(each.getKey(), each.getValue()))
            .sorted(Comparator.comparingLong(Group::tasks).reversed().thenComparing(Group::user))
            .toList();
    // A single user more is named as well.
    int named = groups.size() == MOST + 1 ? groups.size() : Math.min(groups.size(), MOST);
    var who =
        new ArrayList<>(groups.stream().limit(named).map(group -> group.words(user)).toList());
    long rest = groups.stream().skip(named).mapToLong(Group::tasks).sum();
    if (rest > 0) {
      who.add(Phrase.count(rest) + " of " + (groups.size() - named) + " other users");
    }
    return new JobsAhead(
        (own.partition().contains(",") ? "partitions " : "partition ")
            + ClusterText.clean(own.partition()),
        groups.stream().mapToLong(Group::tasks).sum(),
        who,
        othersHidden);
  }
}
