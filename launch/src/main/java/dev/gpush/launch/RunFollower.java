package dev.gpush.launch;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

/** Brings the output of a run from its nodes to somebody who looks at it. */
final class RunFollower {
  private static final int BUFFER = 64 * 1024;

  /** A stream that ended too early is opened again after this, where it ended. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final LaunchSite site;
  private final Tasks tasks;

  RunFollower(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /** From the beginning until the run has ended for good. */
  RunRecord follow(RunWatch watch, Set<Integer> ranks, RunOutput output)
      throws InterruptedException {
    while (true) {
      int attempt = watch.attempt();
      RunRecord record = watch.record();
      var merge = new RunMerge(ranks, output);
      read(record, ranks, true, merge);
      RunRecord last = watch.await(attempt);
      if (watch.attempt() == attempt) {
        return last;
      }
      merge.say(record.parts().getFirst().node(), RunTalk.AGAIN);
    }
  }

  /** What is there now. */
  RunRecord show(RunRecord record, Set<Integer> ranks, RunOutput output)
      throws InterruptedException {
    read(record, ranks, false, new RunMerge(ranks, output));
    return record;
  }

  private void read(RunRecord record, Set<Integer> ranks, boolean follow, RunMerge merge)
      throws InterruptedException {
    var reading = new ArrayList<Callable<Boolean>>();
    for (RunRecord.Part part : record.parts()) {
      reading.add(() -> readNode(record.number(), part, ranks, follow, merge));
    }
    Together.all(tasks, "follow-" + record.number(), reading);
  }

  private boolean readNode(
      int run, RunRecord.Part part, Set<Integer> ranks, boolean follow, RunMerge merge)
      throws InterruptedException {
    NodeCalls node = site.nodes().get(part.node()).calls();
    var journal = new RunJournal(part.node(), 0);
    RunMerge.Part lines = merge.part(part.node());
    while (true) {
      boolean isBroken = false;
      try (InputStream in = node.follow(arguments(run, part, ranks, follow, journal.offset()))) {
        var buffer = new byte[BUFFER];
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
          journal.feed(buffer, count, lines::take);
        }
      } catch (IOException broken) {
        isBroken = true;
      }
      if (lines.end().isPresent() || (!isBroken && (!follow || isOver(node, run)))) {
        lines.finish();
        return true;
      }
      // The agent is another one now; the journal is the same. A record that came in part comes
      // again.
      journal = new RunJournal(part.node(), journal.offset());
      Thread.sleep(PAUSE);
    }
  }

  private static Json.Obj arguments(
      int run, RunRecord.Part part, Set<Integer> ranks, boolean follow, long offset) {
    var arguments = Json.object("run", run, "offset", offset, "follow", follow);
    if (ranks.isEmpty()) {
      return arguments;
    }
    List<Integer> here =
        ranks.stream()
            .filter(rank -> rank >= part.firstRank() && rank < part.firstRank() + part.ranks())
            .sorted()
            .toList();
    return arguments.with("ranks", here);
  }

  private static boolean isOver(NodeCalls node, int run) throws InterruptedException {
    try {
      Json status = node.call("run.status", Json.object("run", run));
      return Optional.of(status).flatMap(json -> json.get("exit")).isPresent();
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.Refused(_, var code, _)
          && code.equals("not-found")) {
        return true;
      }
      throw failed;
    }
  }
}
