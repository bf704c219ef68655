package dev.gpush.link.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SendQueueTest {
  private final SendQueue queue = new SendQueue(LinkLimits.POOL_BYTES);

  /** A stream that the agent has accepted. */
  private StreamState stream(int number) {
    var pool = new WindowPool(LinkLimits.POOL_BYTES);
    var stream = new StreamState(number, new StreamCredit(pool, pool.first(1_000)));
    stream.opened();
    return stream;
  }

  private static Frame data(StreamState stream, int size) {
    return new Frame(FrameKind.DATA, 0, stream.number(), 0, ByteBuffer.wrap(new byte[size]));
  }

  private static Frame message(StreamState stream, boolean urgent) {
    return Frame.ofJson(FrameKind.MESSAGE, urgent ? 1 : 0, stream.number(), Json.object());
  }

  private List<String> takeAll() {
    var taken = new ArrayList<String>();
    while (!queue.isEmpty()) {
      var batch = new ArrayList<Frame>();
      queue.take(batch);
      batch.forEach(frame -> taken.add(frame.kind() + " " + frame.stream() + " " + frame.length()));
    }
    return taken;
  }

  @Test
  void bulkTakesTurnsAndSmallFramesGoFirst() {
    StreamState one = stream(1);
    StreamState three = stream(3);
    StreamState keys = stream(5);
    for (int i = 0; i < 2; i++) {
      queue.add(one, data(one, 100_000));
      queue.add(three, data(three, 90_000));
    }
    queue.add(keys, data(keys, 1));
    queue.add(one, message(one, true));
    queue.addControl(Frame.ofNumber(FrameKind.PONG, 0, 1));

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
    StreamState one = stream(1);
    queue.add(one, data(one, 1));
    queue.add(one, data(one, 2));
    queue.add(one, data(one, 50_000));
    queue.add(one, data(one, 3));
    queue.add(one, message(one, false));

    assertEquals(
        List.of("DATA 1 1", "DATA 1 2", "DATA 1 50000", "DATA 1 3", "MESSAGE 1 2"), takeAll());
  }

  @Test
  void chatterDoesNotStarveBulk() {
    StreamState bulk = stream(1);
    queue.add(bulk, data(bulk, 100_000));
    for (int number = 3; number < 1_000; number += 2) {
      StreamState chat = stream(number);
      queue.add(chat, data(chat, 10));
    }

    assertEquals(LinkLimits.SMALL_IN_A_ROW, takeAll().indexOf("DATA 1 100000"));
  }

  @Test
  void whatIsNotAcknowledgedIsReplayedWithItsNumber() throws Exception {
    StreamState one = stream(1);
    queue.add(one, data(one, 10));
    queue.add(one, data(one, 20));
    queue.add(one, data(one, 30));
    var first = new ArrayList<Frame>();
    queue.take(first);

    queue.acknowledge(1, List.of(one));
    queue.resume(1, List.of(one));

    var second = new ArrayList<Frame>();
    queue.take(second);
    assertEquals(FrameKind.CREDIT, second.removeFirst().kind());
    assertEquals(first.subList(1, 3), second);
    queue.acknowledge(3, List.of(one));
    assertEquals(0, queue.keptFrames());
  }

  @Test
  void aNumberThatWasNeverSentCannotBeAcknowledged() {
    assertEquals(
        "sequence",
        assertThrows(ProtocolException.class, () -> queue.acknowledge(1, List.of())).rule());
  }

  @Test
  void nothingOfAStreamGoesBeforeThePeerAccepted() {
    var pool = new WindowPool(LinkLimits.POOL_BYTES);
    var stream = new StreamState(1, new StreamCredit(pool, pool.first(1_000)));
    queue.add(stream, message(stream, true));
    assertTrue(queue.isEmpty());

    stream.opened();
    queue.release(stream);

    assertEquals(List.of("MESSAGE 1 2"), takeAll());
  }

  /** Found by the simulator: of two sizes of a terminal the older one counted. */
  @Test
  void urgentMessagesStayInOrderThoughTheirStreamWasOpening() {
    var stream = new StreamState(1, new StreamCredit(new WindowPool(LinkLimits.POOL_BYTES), 1_000));
    queue.add(stream, data(stream, 7));
    queue.add(stream, message(stream, true));

    stream.opened();
    queue.release(stream);
    queue.add(stream, Frame.ofJson(FrameKind.MESSAGE, 1, 1, Json.object("a", 1)));

    assertEquals(List.of("MESSAGE 1 2", "MESSAGE 1 7", "DATA 1 7"), takeAll());
  }

  /** Found by the simulator: the same for a stream of the agent that is used before it accepts. */
  @Test
  void urgentMessagesStayInOrderThoughTheirStreamWasNotAccepted() {
    var stream = new StreamState(2, new StreamCredit(new WindowPool(LinkLimits.POOL_BYTES), 1_000));
    queue.add(stream, message(stream, true));

    stream.opened();
    queue.addFirst(stream, Frame.ofJson(FrameKind.OPENED, 0, 2, Json.object()));
    queue.add(stream, Frame.ofJson(FrameKind.MESSAGE, 1, 2, Json.object("a", 1)));

    assertEquals(List.of("OPENED 2 2", "MESSAGE 2 2", "MESSAGE 2 7"), takeAll());
  }
}
