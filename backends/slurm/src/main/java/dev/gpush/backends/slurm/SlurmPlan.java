package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.command.SbatchRefusal;
import dev.gpush.backends.slurm.command.SlurmCommands;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Predicts the result of a request: finds requests that can never be granted, and asks sbatch about
 * the others.
 */
final class SlurmPlan {
  private static final Pattern START = Pattern.compile("to start at ([0-9T:-]+)");

  /**
   * A start within this time counts as now, because schedulers read their queue every few seconds.
   */
  private static final Duration NOW = Duration.ofSeconds(10);

  /** Reads the clock first, because starts are in the cluster's time of day. */
  private static final String TEST =
      """
      date +%Y-%m-%dT%H:%M:%S
      exec sbatch "$@"
      """;

  private static final String SCRIPT = "#!/bin/sh\n";

  private final Site site;

  SlurmPlan(Site site) {
    this.site = site;
  }

  Plan of(GangRequest request) throws InterruptedException, Unanswered {
    return switch (site.shape(request)) {
      case JobShaping.Result.Hopeless(var reason, var works) ->
          new Plan.Never(reason, site.typed(works));
      case JobShaping.Result.Fits(var shape) -> of(request, shape);
    };
  }

  private Plan of(GangRequest request, JobShape shape) throws InterruptedException, Unanswered {
    var command = new ArrayList<>(List.of("/bin/sh", "-c", TEST, "sh", "--test-only"));
    command.addAll(shape.options());
    Inquiry.Answer answer = site.commands().ask(command, SCRIPT, SlurmCommands.LIMIT);
    if (!answer.succeeded()) {
      SbatchRefusal refusal = SbatchRefusal.of(answer.errors());
      if (refusal.mayHaveArrived()) {
        throw new Unanswered(refusal.words(), null);
      }
      // Slurm gives the same reason for nodes that are down and for nodes that do not exist.
      boolean mayComeBack =
          refusal.isAboutNodes()
              && shape.fitting().stream().filter(SlurmNode::isInService).count() < request.nodes();
      return refusal.isHopeless() && !mayComeBack
          ? new Plan.Never(refusal.words(), site.typed(refusal.works()))
          : later(mayComeBack ? busy(shape) : refusal.words(), Optional.empty(), shape);
    }
    Matcher start = START.matcher(answer.errors() + answer.output());
    Optional<LocalDateTime> now = SlurmTime.moment(answer.output().lines().findFirst().orElse(""));
    Optional<Duration> wait =
        start.find()
            ? SlurmTime.moment(start.group(1))
                .flatMap(at -> now.map(then -> Duration.between(then, at)))
            : Optional.empty();
    if (!shape.closed().isEmpty()) {
      return later(shape.closed(), wait.filter(time -> time.compareTo(NOW) > 0), shape);
    }
    if (wait.isPresent() && wait.get().compareTo(NOW) <= 0) {
      return new Plan.Now(what(request, shape));
    }
    return later(busy(shape), wait, shape);
  }

  private static String what(GangRequest request, JobShape shape) {
    String gpus =
        request.gpus().isNone()
            ? Phrase.counted(request.nodes(), "CPU node")
            : request.nodes() + " × " + request.gpus().count() + " " + shape.gpuModel();
    return gpus
        + ", "
        + Phrase.counted(shape.cpus(), "CPU")
        + " each, for "
        + dev.gpush.core.task.DurationText.of(shape.hardEnd());
  }

  private static String busy(JobShape shape) {
    List<String> out =
        shape.fitting().stream().filter(node -> !node.isInService()).map(SlurmNode::name).toList();
    String nodes = Phrase.counted(shape.fitting().size(), "node") + " there could take it";
    return out.isEmpty()
        ? "all of the " + nodes + " are too full"
        : "of the "
            + nodes
            + " "
            + ClusterText.list(out)
            + " are down or drained, the others too full";
  }

  private Plan later(String reason, Optional<Duration> wait, JobShape shape)
      throws InterruptedException, Unanswered {
    List<String> hosts = shape.fitting().stream().map(SlurmNode::name).toList();
    List<String> holders =
        site.queue().everybody(shape.partitions()).stream()
            .filter(job -> !job.isWaiting())
            .filter(job -> HostList.expand(job.nodes()).stream().anyMatch(hosts::contains))
            .map(
                job ->
                    job.label().user()
                        + " ("
                        + ClusterText.clean(job.label().name())
                        + ", job "
                        + job.id()
                        + ")")
            .distinct()
            .limit(8)
            .toList();
    return new Plan.Later(reason, wait, holders);
  }
}
