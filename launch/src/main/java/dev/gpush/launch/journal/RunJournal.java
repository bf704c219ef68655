package dev.gpush.launch.journal;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Parses one node's journal (docs/technical/runs.md), which comes in pieces of any size. Knows the
 * offset at which to continue. One thread.
 */
public final class RunJournal {
  public static final int HEADER = 16;
  public static final int LAUNCHER = 65_535;
  public static final int EVENT = 2;

  /** As a rank: what launchers say themselves. */
  public static final int FROM_LAUNCHER = -1;

  /**
   * Payloads are at most 64 KiB; an event of many ranks may be longer. Anything longer is not a
   * journal.
   */
  static final int MOST_PAYLOAD = 1 << 20;

  /** Of a quiet run; there is one for each node of each run that is followed. */
  private static final int SMALL_BUFFER = 16 * 1024;

  /** More at once is not faster. */
  private static final int LARGE_BUFFER = 512 * 1024;

  /** Takes whole records, one after the other. */
  public interface Entries {
    /**
     * One record.
     *
     * @param rank global, {@link #LAUNCHER} for output of no rank
     * @param channel 0 stdout, 1 stderr, 2 event
     */
    void take(int rank, int channel, byte[] payload);
  }

  private final int node;
  private long offset;

  // What was read and is not given yet: the bytes from start to end.
  private byte[] buffer = new byte[SMALL_BUFFER];
  private int start;
  private int end;

  /**
   * @param node for failures
   * @param offset of a record, as {@link #offset()} gave it
   */
  RunJournal(int node, long offset) {
    this.node = node;
    this.offset = offset;
  }

  /** The offset of the first record that was not returned yet. */
  long offset() {
    return offset;
  }

  /** The next bytes are those at {@link #offset()}: a record that arrived in part is sent again. */
  void reopen() {
    start = 0;
    end = 0;
  }

  /** Reads once, and gives each record that is complete then; false at the end of the stream. */
  boolean read(InputStream in, Entries entries) throws IOException {
    makeRoom();
    int room = buffer.length - end;
    int count = in.read(buffer, end, room);
    if (count < 0) {
      return false;
    }
    end += count;
    while (give(entries)) {}
    if (count == room && buffer.length < LARGE_BUFFER) {
      resize(2 * buffer.length);
    }
    return true;
  }

  /** After the bytes of an incomplete record there is room for more of it. */
  private void makeRoom() {
    System.arraycopy(buffer, start, buffer, 0, end - start);
    end -= start;
    start = 0;
    if (end == buffer.length) {
      resize(2 * buffer.length);
    }
  }

  private void resize(int size) {
    buffer = Arrays.copyOf(buffer, size);
  }

  /** Gives the next record; false when it is not complete. */
  private boolean give(Entries entries) {
    if (end - start < HEADER) {
      return false;
    }
    var header = ByteBuffer.wrap(buffer, start, HEADER);
    int size = header.getInt();
    int rank = Short.toUnsignedInt(header.getShort());
    int channel = header.get();
    int zero = header.get();
    if (size < 0 || size > MOST_PAYLOAD || channel < 0 || channel > EVENT || zero != 0) {
      throw new GpushException(
          new AgentFailure.NotUnderstood("the journal of node " + node + " at " + offset, ""));
    }
    int from = start + HEADER;
    if (end - from < size) {
      return false;
    }
    start = from + size;
    take(rank, channel, Arrays.copyOfRange(buffer, from, start), entries);
    return true;
  }

  private void take(int rank, int channel, byte[] payload, Entries entries) {
    if (channel == EVENT
        && RunEvent.parse(payload) instanceof RunEvent.At(long next, long dropped)) {
      offset = next;
      if (dropped > 0) {
        entries.take(rank, channel, payload);
      }
      return;
    }
    offset += HEADER + payload.length;
    entries.take(rank, channel, payload);
  }
}
