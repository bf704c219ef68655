package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.launch.journal.JournalReader;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JournalReaderTest {
  /** It is counted from when a stream is opened, so a later one would leave lines out. */
  @Test
  void limitOfTimeIsForTheFirstStreamOnly() throws Exception {
    var node = new FakeNode();
    node.call("run.start", Json.object("run", 1, "spec", Json.object()));
    int first = Journals.event("{\"event\": \"started\"}").length;
    node.breakStreams(FakeNode.Reader.FOLLOWER, new FakeNode.Break(first, false));
    node.end(1, "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}");

    new JournalReader(node, 0, 1, Json.object("since_s", 10)).follow((_, _, _) -> {});

    assertEquals(List.of("start 1", "follow 1 since", "follow 1"), node.calls());
  }
}
