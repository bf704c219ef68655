package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunReason;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.launch.journal.JournalReader;
import dev.gpush.launch.journal.NodeEnd;
import dev.gpush.launch.journal.RunJournal;
import dev.gpush.launch.journal.RunMerge;
import dev.gpush.launch.journal.RunTalk;
import dev.gpush.launch.journal.TransportCollector;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** Passes the output of a run from its nodes to a reader. */
public final class RunFollower {
  /** The present attempt. */
  private static final int NOW = 0;

  private final LaunchSite site;
  private final Tasks tasks;

  public RunFollower(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /** Until the run has ended for good. */
  public RunRecord follow(RunWatch watch, LogRequest asked, RunOutput output)
      throws InterruptedException {
    // How the run ends counts more than what is cut of an earlier attempt.
    var cut = new CopyOnWriteArrayList<GpushException>();
    int shown = watch.attempt() - 1;
    showEarlier(watch.record(), asked, output, cut);
    while (true) {
      int attempt = watch.attempt();
      RunRecord record = watch.record();
      int node = record.parts().getFirst().node();
      var merge = new RunMerge(asked.ranks(), output, transports(record));
      int missed = attempt - shown - 1;
      if (missed > 0) {
        merge.say(node, RunTalk.missed(missed, logs(record)));
        sayRestart(watch, merge, node);
        // The reader may have been slow with this, too.
        shown = attempt - 1;
        continue;
      }
      shown = attempt;
      read(record, asked, NOW, merge, cut);
      RunRecord last = watch.await(attempt);
      merge.finish(named(last.progress().failure()));
      if (watch.attempt() == attempt) {
        return last;
      }
      if (watch.attempt() == attempt + 1) {
        sayRestart(watch, merge, node);
      }
    }
  }

  private static void sayRestart(RunWatch watch, RunMerge merge, int node) {
    watch.restart().ifPresent(why -> say(merge, node, why.failure(), why.number(), why.most()));
  }

  /**
   * Gives the output that exists now.
   *
   * @throws GpushException with {@link LaunchFailure.CutOutput} after all that can be read
   */
  public RunRecord show(RunRecord record, LogRequest asked, RunOutput output)
      throws InterruptedException {
    var cut = new CopyOnWriteArrayList<GpushException>();
    showEarlier(record, asked, output, cut);
    var merge = new RunMerge(asked.ranks(), output, transports(record));
    read(record, asked, NOW, merge, cut);
    merge.finish(named(record.progress().failure()));
    if (!cut.isEmpty()) {
      throw cut.getFirst();
    }
    return record;
  }

  /** The attempts before the present one, of a run that was started again. */
  private void showEarlier(
      RunRecord record, LogRequest asked, RunOutput output, List<GpushException> cut)
      throws InterruptedException {
    int most = record.asked().options().ranks().restarts();
    RunRecord.Part first = record.parts().getFirst();
    Attempts attempts = Attempts.of(record, site.nodes().get(first.node()).calls());
    int kept = attempts.kept();
    int attempt = attempts.number();
    var merge = new RunMerge(asked.ranks(), output, transports(record));
    if (attempt - 1 > kept && asked.since().isEmpty()) {
      merge.say(first.node(), RunTalk.forgotten(attempt - 1 - kept));
    }
    for (int before = kept; before > 0; before--) {
      List<Optional<NodeEnd>> known = read(record, asked, before, merge, cut);
      if (known.stream().anyMatch(Optional::isEmpty)) {
        merge.finish(Set.of());
        merge.say(first.node(), RunTalk.unknownEnd(attempt - before));
        continue;
      }
      List<NodeEnd> ends = known.stream().map(Optional::orElseThrow).toList();
      Optional<RunFailure> failure =
          ends.getFirst().portTaken().isPresent()
              ? Optional.empty()
              : new RunVerdict(site.infos(), record.parts(), ends)
                  .failure(_ -> RunReason.Loss.SUPERVISOR);
      merge.finish(named(failure));
      say(merge, first.node(), failure, attempt - before, most);
    }
  }

  private String logs(RunRecord record) {
    return new SessionCommands(Optional.of(site.name().text())).of("logs " + record.number());
  }

  private static void say(
      RunMerge merge, int node, Optional<RunFailure> failure, int restart, int most) {
    failure.ifPresentOrElse(
        why -> merge.restart(node, why, restart, most), () -> merge.say(node, RunTalk.AGAIN));
  }

  private static TransportCollector transports(RunRecord record) {
    return new TransportCollector(record.launched().given().fabric(), record.parts().size());
  }

  /** The ranks that the verdict names. */
  private static Set<Integer> named(Optional<RunFailure> verdict) {
    var named = new HashSet<Integer>();
    verdict.ifPresent(
        failure -> {
          named.add(failure.rank());
          named.addAll(failure.same());
        });
    return named;
  }

  /**
   * Gives the output of one attempt of all nodes.
   *
   * @param before {@link #NOW}, or how many attempts before the present one
   * @param cut gets the failure of each node that cannot read on; the others give all of theirs
   * @return how each part of an earlier attempt ended; empty where its output cannot be read
   */
  private List<Optional<NodeEnd>> read(
      RunRecord record, LogRequest asked, int before, RunMerge merge, List<GpushException> cut)
      throws InterruptedException {
    return tasks.each(
        "follow-" + record.number(),
        record.parts(),
        part -> {
          try {
            return readNode(record, part, asked, before, merge);
          } catch (GpushException failed) {
            if (!(failed.failure() instanceof LaunchFailure.CutOutput)) {
              throw failed;
            }
            merge.say(part.node(), RunTalk.cut(part.node()));
            cut.add(failed);
            return Optional.empty();
          }
        });
  }

  private Optional<NodeEnd> readNode(
      RunRecord record, RunRecord.Part part, LogRequest asked, int before, RunMerge merge)
      throws InterruptedException {
    int run = record.number();
    LaunchNode launched = site.nodes().get(part.node());
    Json.Obj selection = selection(part, asked);
    if (before != NOW) {
      selection = selection.with("before", before);
    }
    var journal = new JournalReader(launched.calls(), part.node(), run, selection);
    RunMerge.Part lines = merge.part(part.node(), launched.info().workspace());
    try {
      if (asked.follow() && before == NOW) {
        if (record.asked().options().ranks().restarts() > 0) {
          journal.mayRestart();
        }
        NodeEnd end = journal.follow(lines::take);
        if (journal.isCut()) {
          throw new GpushException(new LaunchFailure.CutOutput(run, part.node()));
        }
        return Optional.of(end);
      }
      // A supervisor that was killed wrote no end.
      return Optional.of(journal.show(lines::take).orElseGet(NodeEnd::lost));
    } catch (GpushException failed) {
      if (JournalReader.isUnknown(failed)) {
        merge.say(part.node(), RunTalk.swept(part.node()));
        return Optional.empty();
      }
      if (!launched.calls().isLost()) {
        throw failed;
      }
      merge.say(part.node(), RunTalk.lost(part.node()));
      return Optional.empty();
    } finally {
      lines.finish();
    }
  }

  private static Json.Obj selection(RunRecord.Part part, LogRequest asked) {
    Set<Integer> ranks = asked.ranks();
    Json.Obj recent =
        asked
            .since()
            .map(since -> Json.object("since_s", since.toMillis() / 1000.0))
            .orElseGet(Json::object);
    // What accelerate says of its ranks stands in a rank's own output.
    if (ranks.isEmpty() || ranks.contains(RunJournal.FROM_LAUNCHER)) {
      return recent;
    }
    List<Integer> here =
        ranks.stream()
            .filter(rank -> rank >= part.firstRank() && rank < part.firstRank() + part.ranks())
            .sorted()
            .toList();
    return recent.with("ranks", here);
  }
}
