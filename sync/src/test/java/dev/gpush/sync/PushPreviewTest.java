package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.SyncView.Preview.Sent;
import dev.gpush.core.talk.TalkAround;
import dev.gpush.sync.tree.Generation;
import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a push would do, and that looking changes nothing; with the real node side. */
final class PushPreviewTest extends SyncFixture {
  private SyncView.Preview preview() throws InterruptedException {
    return sync.preview(all(), PushOptions.standard(), talk);
  }

  private List<Map<String, String>> trees() throws Exception {
    return List.of(laptop.texts(), nodes.get(0).folder().texts(), nodes.get(1).folder().texts());
  }

  private static List<String> held(List<SyncFailure.HeldPath> paths) {
    return paths.stream()
        .map(each -> each.path() + " " + each.reason() + " " + each.node())
        .toList();
  }

  @Test
  void namesWhatThePushThenDoes() throws Exception {
    nodes(2);
    laptop.write("both", "1").write("gone-there", "1").write("gone", "1").write("changed", "1");
    laptop.write("edited", "1").write("same", "1");
    Generation before = push();
    laptop.write("both", "here!").write("changed", "12").write("new/a", "123").delete("gone");
    laptop.write("met", "here!");
    nodes.get(0).folder().write("both", "there").write("edited", "there").delete("gone-there");
    nodes.get(1).folder().write("met", "theirs");
    List<Map<String, String>> trees = trees();

    SyncView.Preview preview = preview();

    assertEquals(List.of(new Sent("changed", 2), new Sent("new/a", 3)), preview.sends());
    assertEquals(5, preview.bytes());
    assertEquals(List.of("gone"), preview.deletes());
    assertEquals(List.of("edited"), preview.comes());
    assertEquals(List.of("gone-there"), preview.removes());
    assertEquals(List.of("both CHANGED_BOTH 0", "met OTHER_NODE 1"), held(preview.held()));
    assertEquals(List.of(), preview.asks());
    assertEquals(trees, trees());
    assertEquals(before, held(nodes.getFirst()).generation());
    assertEquals(before, sync.last().generation());
    assertEquals(List.of(), sync.last().held());
    var failed = assertInstanceOf(SyncFailure.Held.class, failure(this::push));
    assertEquals(held(preview.held()), held(failed.paths()));
    assertEquals(List.of(), preview().sends());
  }

  @Test
  void sendsAllToNodesThatHaveNothingAndNothingToThoseThatHaveAll() throws Exception {
    nodes(2);
    laptop.write("a", "1").write("b", "1");

    assertEquals(List.of(new Sent("a", 1), new Sent("b", 1)), preview().sends());
    assertEquals(1, preview().bytes(), "one content, twice");
    push();
    assertEquals(SyncView.Preview.nothing(), preview());
  }

  @Test
  void namesTheQuestionsAndAnswersNone() throws Exception {
    nodes(1);
    for (int i = 0; i < 100; i++) {
      laptop.write("d/" + i, "x" + i);
    }
    push();
    laptop.delete("d");
    laptop.write("large", new byte[60 << 20]);

    List<String> asks =
        List.of(
            laptop.path() + ": large: over 50 MB and not in git (1 files, 63 MB). Send it?",
            "100 of 100 files are gone here. Remove them on the nodes too?");
    assertEquals(asks, preview().asks());
    assertEquals(asks, preview().asks(), "the first was no answer");
    assertEquals(List.of(), talk.asked);
  }

  @Test
  void whatIsAgreedBeforehandIsSentAndAgreedToThisOnce() throws Exception {
    nodes(1);
    push();
    laptop.write("large", new byte[60 << 20]);
    var yes =
        new TalkAround(talk) {
          @Override
          public boolean isAnswered(String flag) {
            return flag.equals("--yes");
          }
        };

    SyncView.Preview preview = sync.preview(all(), PushOptions.standard(), yes);

    assertEquals(List.of(new Sent("large", 60 << 20)), preview.sends());
    assertEquals(List.of(), preview.asks());
    assertEquals(Set.of("large"), sync.rescan(Optional.empty(), Set.of()).left().keySet());
  }

  @Test
  void forgetsWhatWasInTheWayAsAPushDoes() throws Exception {
    nodes(2);
    laptop.write("a", "1");
    push();
    laptop.write("met", "here!");
    nodes.get(1).folder().write("met", "theirs");
    assertInstanceOf(SyncFailure.Held.class, failure(this::push));
    nodes.get(1).folder().delete("met");

    assertEquals(List.of(), preview().held());
    assertEquals(List.of(new Sent("met", 5)), preview().sends());
    push();
  }

  @Test
  void deletionsBeforeAPreviewDoNotCountForLaterOnes() throws Exception {
    nodes(1);
    var time = new ManualClock();
    clock = time;
    restartGateway();
    for (int i = 0; i < 100; i++) {
      laptop.write("d/" + i, "x" + i);
    }
    push();
    for (int i = 0; i < 40; i++) {
      laptop.delete("d/" + i);
    }
    push();
    time.advance(Duration.ofSeconds(5));
    for (int i = 40; i < 70; i++) {
      laptop.delete("d/" + i);
    }
    assertEquals(1, preview().asks().size());
    time.advance(Duration.ofMinutes(10));

    assertEquals(List.of(), preview().asks());
    push();

    assertEquals(List.of(), talk.asked);
  }
}
