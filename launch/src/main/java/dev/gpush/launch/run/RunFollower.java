package dev.gpush.launch.run;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.launch.journal.JournalReader;
import dev.gpush.launch.journal.RunJournal;
import dev.gpush.launch.journal.RunMerge;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.transport.TransportCollector;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Passes the output of a run from its nodes to a reader. */
public final class RunFollower {
  private final LaunchSite site;
  private final Tasks tasks;

  public RunFollower(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /** From the beginning until the run has ended for good. */
  public RunRecord follow(RunWatch watch, Set<Integer> ranks, RunOutput output)
      throws InterruptedException {
    while (true) {
      int attempt = watch.attempt();
      RunRecord record = watch.record();
      var merge = new RunMerge(ranks, output, transports(record));
      read(record, ranks, true, merge);
      RunRecord last = watch.await(attempt);
      merge.finish(named(last));
      if (watch.attempt() == attempt) {
        return last;
      }
      merge.say(record.parts().getFirst().node(), watch.whyAgain());
    }
  }

  /** Gives the output that exists now. */
  public RunRecord show(RunRecord record, Set<Integer> ranks, RunOutput output)
      throws InterruptedException {
    var merge = new RunMerge(ranks, output, transports(record));
    read(record, ranks, false, merge);
    merge.finish(named(record));
    return record;
  }

  private static TransportCollector transports(RunRecord record) {
    return new TransportCollector(record.launched().given().fabric(), record.parts().size());
  }

  /** The ranks that the verdict names. */
  private static Set<Integer> named(RunRecord record) {
    var named = new HashSet<Integer>();
    record
        .progress()
        .failure()
        .ifPresent(
            failure -> {
              named.add(failure.rank());
              named.addAll(failure.same());
            });
    return named;
  }

  private void read(RunRecord record, Set<Integer> ranks, boolean follow, RunMerge merge)
      throws InterruptedException {
    var reading = new ArrayList<Work<Boolean, RuntimeException>>();
    for (RunRecord.Part part : record.parts()) {
      reading.add(() -> readNode(record.number(), part, ranks, follow, merge));
    }
    tasks.all("follow-" + record.number(), reading);
  }

  private boolean readNode(
      int run, RunRecord.Part part, Set<Integer> ranks, boolean follow, RunMerge merge)
      throws InterruptedException {
    LaunchNode launched = site.nodes().get(part.node());
    NodeCalls node = launched.calls();
    var journal = new JournalReader(node, part.node(), run, selection(part, ranks));
    RunMerge.Part lines = merge.part(part.node(), launched.info().workspace());
    if (follow) {
      journal.follow(lines::take);
    } else {
      journal.show(lines::take);
    }
    lines.finish();
    return true;
  }

  private static Json.Obj selection(RunRecord.Part part, Set<Integer> ranks) {
    // What accelerate says of its ranks stands in a rank's own output.
    if (ranks.isEmpty() || ranks.contains(RunJournal.FROM_LAUNCHER)) {
      return Json.object();
    }
    List<Integer> here =
        ranks.stream()
            .filter(rank -> rank >= part.firstRank() && rank < part.firstRank() + part.ranks())
            .sorted()
            .toList();
    return Json.object("ranks", here);
  }
}
