package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.launch.journal.JournalReader;
import dev.gpush.launch.journal.NodeEnd;
import dev.gpush.launch.journal.RunJournal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
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

  /** A new agent on a node that is short of memory says these. */
  @Test
  void aRefusalThatMayPassIsNoEnd() throws Exception {
    var node = new FakeNode();
    node.call("run.start", Json.object("run", 1, "spec", Json.object()));
    node.fail("follow", new AgentFailure.Refused("follow", "limit", Json.object()));
    node.breakStreams(FakeNode.Reader.FOLLOWER, new FakeNode.Break(0, false));
    node.fail("run.status", new AgentFailure.Refused("run.status", "timeout", Json.object()));
    node.fail("follow", new AgentFailure.LinkOver(0, "its agent was replaced by another one"));
    node.end(1, "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}");

    NodeEnd end = new JournalReader(node, 0, 1, Json.object()).follow((_, _, _) -> {});

    assertFalse(end.isLost());
  }

  /** Each of its streams is killed, or meets a disk that cannot be read. */
  @Test
  void outputThatANodeCannotReadOnIsCutWhenItsEndIsKnown() throws Exception {
    var node = new FakeNode();
    node.call("run.start", Json.object("run", 1, "spec", Json.object()));
    var each = new FakeNode.Break(0, false);
    node.breakStreams(
        FakeNode.Reader.FOLLOWER, Collections.nCopies(30, each).toArray(FakeNode.Break[]::new));
    node.lose(1, Json.object("exit", 3));
    var reader = new JournalReader(node, 0, 1, Json.object());

    NodeEnd end = reader.follow((_, _, _) -> {});

    assertEquals(Optional.of(3), end.end().exit());
    assertTrue(reader.isCut());
    assertEquals(11, Collections.frequency(node.calls(), "follow 1"));
  }

  /** The run waits for this reader before it ends or is started again. */
  @Test
  void eventsAreAskedForOnceMoreWhenTheEndIsKnown() throws Exception {
    var node = new FakeNode();
    node.call("run.start", Json.object("run", 1, "spec", Json.object()));
    var each = new FakeNode.Break(0, false);
    node.breakStreams(
        FakeNode.Reader.WATCH, Collections.nCopies(30, each).toArray(FakeNode.Break[]::new));
    node.lose(1, Json.object("exit", 3));

    NodeEnd end =
        new JournalReader(node, 0, 1, Json.object("events", true)).follow((_, _, _) -> {});

    assertEquals(Optional.of(3), end.end().exit());
    assertEquals(2, Collections.frequency(node.calls(), "watch 1"));
  }

  /** Its place is one in the output of the first attempt. */
  @Test
  void aReaderWhoseStreamBreaksAfterARestartStaysInItsAttempt() throws Exception {
    var node = new FakeNode();
    Json.Obj start = Json.object("run", 1, "spec", Json.object(), "again", true);
    node.call("run.start", start);
    int first = Journals.event("{\"event\": \"started\"}").length;
    node.breakStreams(FakeNode.Reader.FOLLOWER, new FakeNode.Break(first, false));
    var reader = new JournalReader(node, 0, 1, Json.object());
    reader.mayRestart();
    var lines = new ArrayList<String>();

    NodeEnd end =
        reader.follow(
            (_, channel, payload) -> {
              if (channel == RunJournal.EVENT && lines.isEmpty()) {
                lines.add("");
                restart(node, start);
              } else if (channel != RunJournal.EVENT) {
                lines.add(new String(payload, StandardCharsets.UTF_8));
              }
            });

    assertEquals(List.of("", "first"), lines);
    assertEquals(Optional.of(7), end.end().exit());
    assertFalse(reader.isCut());
  }

  private static void restart(FakeNode node, Json.Obj start) {
    node.write(1, Journals.out(0, "first"));
    node.end(1, "{\"exit\": 7, \"signal\": null, \"first\": null, \"stopped\": false}");
    try {
      node.call("run.start", start);
    } catch (InterruptedException stop) {
      throw new AssertionError(stop);
    }
    node.write(1, Journals.out(0, "second"));
    node.end(1, "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}");
  }

  @Test
  void aLinkThatStaysOverIsTheEnd() {
    var over = new GpushException(new AgentFailure.LinkOver(0, "released"));
    var node =
        new CallsOnly(
            _ -> {
              throw over;
            });

    var reader = new JournalReader(node, 0, 1, Json.object());

    assertSame(over, assertThrows(GpushException.class, () -> reader.follow((_, _, _) -> {})));
  }
}
