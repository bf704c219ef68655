package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.run.RunHistory;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.launch.run.RunWatch;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that is killed leaves the history to the next one. */
final class RunWatchTest {
  private static final String FAILED =
      "{\"exit\": 1, \"signal\": null, \"first\": null, \"stopped\": false}";

  private final List<FakeNode> nodes = List.of(new FakeNode(), new FakeNode());

  private void startRanks(boolean again) throws InterruptedException {
    for (FakeNode node : nodes) {
      node.call("run.start", Json.object("run", 7, "spec", Json.object(), "again", again));
    }
  }

  @Test
  void theHistoryHasTheStartTimesOfTheLastAttempt(@TempDir Path folder) throws Exception {
    LaunchSite site = FakeNode.site(nodes, folder, Optional.empty());
    var history = new RunHistory(folder);
    RunRecord record =
        RunRecord.from(Json.parse("{\"run\": 7, \"parts\": [{\"node\": 0}, {\"node\": 1}]}"))
            .orElseThrow()
            .in(RunView.State.RUNNING);
    history.put(record);
    startRanks(false);
    RunWatch.Again again =
        _ -> {
          startRanks(true);
          return record.parts().stream().map(part -> part.startedAt(3000L * part.node())).toList();
        };
    try (var tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace())) {
      var relaunch = Optional.of(new RunWatch.Relaunch(again, 1));
      var watch = new RunWatch(site, history, record, relaunch, Clock.system(), tasks);
      watch.start(() -> {});
      nodes.forEach(node -> node.end(7, FAILED));
      watch.await(1);

      RunRecord kept = new RunHistory(folder).find(7).orElseThrow();
      assertEquals(List.of(0L, 3000L), kept.parts().stream().map(RunRecord.Part::startMs).toList());
    }
  }
}
