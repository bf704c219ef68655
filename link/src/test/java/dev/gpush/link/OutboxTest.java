package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutboxTest {
  private final Tasks tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
  private final Link link =
      new Link(
          new LinkIdentity(0, "me", "0".repeat(32), 1, List.of()),
          _ -> {
            throw new AssertionError("no pipe is wanted");
          },
          tasks,
          new FakeClock(),
          new Random(1),
          _ -> {});
  private final Outbox outbox = new Outbox();

  /** A stream that the agent has accepted. */
  private LinkStream stream(int number) {
    var pool = new WindowPool();
    var stream = new LinkStream(link, number, new Flow(pool, pool.first(1_000)));
    stream.opened();
    return stream;
  }

  private static Frame data(LinkStream stream, int size) {
    return new Frame(FrameKind.DATA, 0, stream.number(), 0, ByteBuffer.wrap(new byte[size]));
  }

  private static Frame message(LinkStream stream, boolean urgent) {
    return Frame.ofJson(FrameKind.MESSAGE, urgent ? 1 : 0, stream.number(), Json.object());
  }

  private List<String> takeAll() {
    var taken = new ArrayList<String>();
    while (!outbox.isEmpty()) {
      var batch = new ArrayList<Frame>();
      outbox.take(batch);
      batch.forEach(frame -> taken.add(frame.kind() + " " + frame.stream() + " " + frame.length()));
    }
    return taken;
  }

  private static Frame close(LinkStream stream, Json.Obj reason) {
    return Frame.ofJson(FrameKind.CLOSE, 0, stream.number(), reason);
  }

  @Test
  void aCloseThatAnswersWaitsForSomethingToTravelWith() {
    LinkStream over = stream(1);
    LinkStream next = stream(3);
    assertTrue(outbox.addLater(over, close(over, Json.object()), 1_000));

    assertTrue(outbox.isEmpty());
    assertEquals(Limits.LATER_NANOS - 500, outbox.untilLater(1_500));
    outbox.add(next, message(next, false));
    outbox.hurry();
    assertEquals(List.of("MESSAGE 3 2", "CLOSE 1 2"), takeAll());
    assertEquals(Long.MAX_VALUE, outbox.untilLater(2_000));
  }

  @Test
  void onlyAFewShortOnesThatNothingGoesBeforeMayWait() {
    LinkStream busy = stream(1);
    outbox.add(busy, data(busy, 10));
    assertFalse(outbox.addLater(busy, close(busy, Json.object()), 0));
    LinkStream wordy = stream(3);
    assertFalse(outbox.addLater(wordy, close(wordy, Json.object("code", "why-so-long")), 0));
    for (int i = 0; i < Limits.LATER; i++) {
      LinkStream over = stream(5 + 2 * i);
      assertTrue(outbox.addLater(over, close(over, Json.object()), 0));
    }
    LinkStream more = stream(99);
    assertFalse(outbox.addLater(more, close(more, Json.object()), 0));
    outbox.restart();
    assertEquals(List.of(), takeAll());
    outbox.hurry();
    assertTrue(outbox.isEmpty(), "the agent that knew them is no more");
  }

  @Test
  void bulkTakesTurnsAndSmallFramesGoFirst() {
    LinkStream one = stream(1);
    LinkStream three = stream(3);
    LinkStream keys = stream(5);
    for (int i = 0; i < 2; i++) {
      outbox.add(one, data(one, 100_000));
      outbox.add(three, data(three, 90_000));
    }
    outbox.add(keys, data(keys, 1));
    outbox.add(one, message(one, true));
    outbox.addControl(Frame.ofNumber(FrameKind.PONG, 0, 1));

    assertEquals(
        List.of(
            "PONG 0 8",
            "DATA 5 1",
            "MESSAGE 1 2",
            "DATA 1 100000",
            "DATA 3 90000",
            "DATA 1 100000",
            "DATA 3 90000"),
        takeAll());
  }

  @Test
  void orderWithinAStreamStays() {
    LinkStream one = stream(1);
    outbox.add(one, data(one, 1));
    outbox.add(one, data(one, 2));
    outbox.add(one, data(one, 50_000));
    outbox.add(one, data(one, 3));
    outbox.add(one, message(one, false));

    assertEquals(
        List.of("DATA 1 1", "DATA 1 2", "DATA 1 50000", "DATA 1 3", "MESSAGE 1 2"), takeAll());
  }

  @Test
  void chatterDoesNotStarveBulk() {
    LinkStream bulk = stream(1);
    outbox.add(bulk, data(bulk, 100_000));
    for (int number = 3; number < 1_000; number += 2) {
      LinkStream chat = stream(number);
      outbox.add(chat, data(chat, 10));
    }

    assertEquals(Limits.SMALL_IN_A_ROW, takeAll().indexOf("DATA 1 100000"));
  }

  @Test
  void whatIsNotAcknowledgedIsReplayedWithItsNumber() throws Exception {
    LinkStream one = stream(1);
    outbox.add(one, data(one, 10));
    outbox.add(one, data(one, 20));
    outbox.add(one, data(one, 30));
    var first = new ArrayList<Frame>();
    outbox.take(first);

    outbox.acknowledge(1);
    outbox.resume(1, List.of(one));

    var second = new ArrayList<Frame>();
    outbox.take(second);
    assertEquals(FrameKind.CREDIT, second.removeFirst().kind());
    assertEquals(first.subList(1, 3), second);
    outbox.acknowledge(3);
    assertEquals(0, outbox.keptFrames());
  }

  @Test
  void aNumberThatWasNeverSentCannotBeAcknowledged() {
    assertEquals(
        "sequence", assertThrows(ProtocolException.class, () -> outbox.acknowledge(1)).rule());
  }

  @Test
  void nothingOfAStreamGoesBeforeThePeerAccepted() {
    var pool = new WindowPool();
    var stream = new LinkStream(link, 1, new Flow(pool, pool.first(1_000)));
    outbox.add(stream, message(stream, true));
    assertTrue(outbox.isEmpty());

    stream.opened();
    outbox.makeReady(stream);

    assertEquals(List.of("MESSAGE 1 2"), takeAll());
  }
}
