package dev.gpush.launch.journal;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Parses one node's journal (docs/technical/runs.md), fed in pieces of any size. Knows the offset
 * at which to continue. One thread.
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
  private byte[] pending = new byte[0];
  private long offset;

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
    pending = new byte[0];
  }

  /** Gives each record that these bytes complete. */
  void feed(byte[] bytes, int length, Entries entries) {
    byte[] all = Arrays.copyOf(pending, pending.length + length);
    System.arraycopy(bytes, 0, all, pending.length, length);
    int at = 0;
    while (all.length - at >= HEADER) {
      var header = ByteBuffer.wrap(all, at, HEADER);
      int size = header.getInt();
      int rank = Short.toUnsignedInt(header.getShort());
      int channel = header.get();
      int zero = header.get();
      if (size < 0 || size > MOST_PAYLOAD || channel < 0 || channel > EVENT || zero != 0) {
        throw new GpushException(
            new AgentFailure.NotUnderstood("the journal of node " + node + " at " + offset, ""));
      }
      if (all.length - at - HEADER < size) {
        break;
      }
      byte[] payload = Arrays.copyOfRange(all, at + HEADER, at + HEADER + size);
      at += HEADER + size;
      take(rank, channel, payload, entries);
    }
    pending = Arrays.copyOfRange(all, at, all.length);
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
