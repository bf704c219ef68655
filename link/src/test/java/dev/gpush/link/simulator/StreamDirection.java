package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;

/**
 * One direction of one stream: what was sent and what was received. Every byte is checked: it must
 * be the next one of its channel.
 */
final class StreamDirection {
  /** No multiple of it is sent at once, and streams begin at different places of it. */
  private static final int PATTERN = 1 << 17;

  private static final byte[] BYTES = pattern();

  private record Message(int number, long after) {}

  private final String name;
  private final int[] base = new int[2];
  private final long[] sent = new long[2];
  private final long[] received = new long[2];
  private final boolean[] ended = new boolean[2];
  private final boolean[] endReceived = new boolean[2];
  private final long[] left = new long[2];
  private final ArrayDeque<Message> normal = new ArrayDeque<>();
  private final ArrayDeque<Message> urgent = new ArrayDeque<>();
  private int messages;
  private int messagesLeft;
  private long backlog;

  StreamDirection(String name, int stream, int direction) {
    this.name = name;
    for (int channel = 0; channel < 2; channel++) {
      base[channel] = (stream * 7_919 + direction * 104_729 + channel * 15_485_863) & (PATTERN - 1);
    }
  }

  private static byte[] pattern() {
    var once = new byte[PATTERN];
    new Random(1).nextBytes(once);
    byte[] twice = Arrays.copyOf(once, 2 * PATTERN);
    System.arraycopy(once, 0, twice, PATTERN, PATTERN);
    return twice;
  }

  void plan(int channel, long bytes, int messageCount) {
    left[channel] = bytes;
    messagesLeft += messageCount;
  }

  // ---- the sender

  long left(int channel) {
    return left[channel];
  }

  int messagesLeft() {
    return messagesLeft;
  }

  boolean isAllSent() {
    return left[0] + left[1] == 0 && messagesLeft == 0;
  }

  boolean hasEnded(int channel) {
    return ended[channel];
  }

  /** The next bytes to send; {@link #sent} says how many were taken. */
  ByteBuffer next(int channel, int most) {
    int count = (int) Math.min(Math.min(left[channel], most), PATTERN - 1);
    return ByteBuffer.wrap(BYTES, at(channel, sent[channel]), count);
  }

  byte[] nextBytes(int channel, int most) {
    ByteBuffer next = next(channel, most);
    return Arrays.copyOfRange(BYTES, next.position(), next.limit());
  }

  private int at(int channel, long position) {
    return (int) ((base[channel] + position) & (PATTERN - 1));
  }

  void sent(int channel, int count) {
    sent[channel] += count;
    left[channel] -= count;
  }

  Json.Obj message(boolean isUrgent) {
    var message = new Message(messages++, sent[0] + sent[1]);
    (isUrgent ? urgent : normal).add(message);
    messagesLeft--;
    return Json.object("n", message.number(), "urgent", isUrgent);
  }

  /** What gave the bytes has ended early. */
  void dropRest(int channel) {
    left[channel] = 0;
  }

  void end(int channel) {
    ended[channel] = true;
    left[channel] = 0;
  }

  // ---- the receiver

  void received(int channel, ByteBuffer bytes) {
    int count = bytes.remaining();
    int from = at(channel, received[channel]);
    require(!endReceived[channel], "DATA after END");
    require(received[channel] + count <= sent[channel], "more than was sent");
    require(
        bytes.equals(ByteBuffer.wrap(BYTES, from, count)),
        "other bytes than were sent at " + received[channel]);
    received[channel] += count;
    backlog += count;
  }

  void receivedEnd(int channel) {
    require(ended[channel] && !endReceived[channel], "END that was not sent, or twice");
    require(
        received[channel] == sent[channel], "END before " + (sent[channel] - received[channel]));
    endReceived[channel] = true;
  }

  boolean hasReceivedBothEnds() {
    return endReceived[0] && endReceived[1];
  }

  void receivedMessage(Json message) {
    boolean isUrgent = message.flag("urgent");
    Message wanted = (isUrgent ? urgent : normal).poll();
    require(
        wanted != null && wanted.number() == message.number("n").orElse(-1L),
        "MESSAGE " + message.write() + " instead of " + wanted);
    if (wanted != null) {
      long before = received[0] + received[1];
      require(
          isUrgent ? before <= wanted.after() : before == wanted.after(),
          "MESSAGE after " + before + " bytes, sent after " + wanted.after());
    }
  }

  /** The sender's CLOSE came, and the receiver had not closed before. */
  void verifyComplete() {
    require(received[0] == sent[0] && received[1] == sent[1], "CLOSE before data");
    require(normal.isEmpty() && urgent.isEmpty(), "CLOSE before a message");
    require(endReceived[0] == ended[0] && endReceived[1] == ended[1], "CLOSE before END");
  }

  /** Bytes that were received and not consumed. */
  long backlog() {
    return backlog;
  }

  void consume(int count) {
    backlog -= count;
  }

  private void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(name + ": " + what);
    }
  }
}
