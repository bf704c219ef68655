package dev.gpush.ssh.channel;

import dev.gpush.ssh.connection.ClientLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.AbstractChannel;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.threads.ThreadUtils;

/**
 * From the node to the client: cuts bytes from the link into packets as the client's window allows,
 * and returns credit to the link for bytes that were written. The waiting bytes are bounded by the
 * stream's credit. Actions that follow the bytes, such as the end of file and the exit status, wait
 * in the same queue.
 *
 * <p>One thread at a time writes ({@code writing}): the one that brings bytes when nothing is in
 * progress, which is fast for a keystroke, and SSHD's I/O threads when packets are being written,
 * which leaves the link's thread free in bulk transfers. SSHD's own asynchronous stream is not used
 * because it copies data that does not fit into one packet.
 */
final class Outlet {
  private static final int STANDARD_ERROR = 1;

  /**
   * Pieces up to this that wait behind others are joined: each alone costs far more than its bytes.
   */
  private static final int SMALL = 1 << 10;

  private static final int JOINED = 4 << 10;

  private final AbstractChannel channel;

  // guarded by this: all that follows
  private final ArrayDeque<Item> waiting = new ArrayDeque<>();
  private boolean writing;
  private boolean broken;
  private boolean dropping;
  private boolean held;
  private int underWay;

  /** A waiting item: bytes, or an action for when everything before it was written. */
  private sealed interface Item {
    record Bytes(boolean isMain, ByteBuffer bytes, IntConsumer consumed) implements Item {

      /** Whether these bytes were put behind ours. */
      boolean joins(Bytes next) {
        int end = bytes.limit();
        int more = next.bytes.remaining();
        if (isMain != next.isMain || bytes.capacity() - end < more) {
          return false;
        }
        bytes.limit(end + more).put(end, next.bytes, next.bytes.position(), more);
        return true;
      }
    }

    record Then(Action action) implements Item {}
  }

  /** Writes packets, or closes the channel. */
  @FunctionalInterface
  interface Action {
    void run() throws IOException;
  }

  Outlet(AbstractChannel channel) {
    this.channel = channel;
  }

  /**
   * Bytes for the client.
   *
   * @param from 0 standard output, 1 standard error
   * @param consumed told the number of bytes once all are on their way
   */
  void data(int from, ByteBuffer bytes, IntConsumer consumed) {
    if (bytes.hasRemaining() && !isDropping()) {
      bring(new Item.Bytes(from != STANDARD_ERROR, bytes.slice(), consumed));
    }
  }

  /** The reader is gone: drops bytes, and runs the actions that follow them. */
  void drop() {
    synchronized (this) {
      dropping = true;
      waiting.removeIf(Item.Bytes.class::isInstance);
    }
    write();
  }

  private synchronized boolean isDropping() {
    return dropping;
  }

  /** Whether bytes wait, or had no reader. */
  synchronized boolean hasUnread() {
    return broken || waiting.stream().anyMatch(Item.Bytes.class::isInstance);
  }

  /** A message of gpush for the user. */
  void errorText(String text) {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    if (bytes.hasRemaining() && !isDropping()) {
      add(new Item.Bytes(false, bytes, _ -> {}));
    }
  }

  /** Adds an action for when everything before it was written. It must not block. */
  void then(Action action) {
    add(new Item.Then(action));
  }

  private void bring(Item.Bytes item) {
    synchronized (this) {
      // Not to the first: its bytes may be on their way to a packet at this moment.
      boolean mayJoin = waiting.size() > 1 && item.bytes().remaining() <= SMALL;
      if (mayJoin && waiting.getLast() instanceof Item.Bytes last && last.joins(item)) {
        return;
      }
      if (mayJoin) {
        var room =
            new Item.Bytes(item.isMain(), ByteBuffer.allocate(JOINED).limit(0), item.consumed());
        room.joins(item);
        waiting.add(room);
        return;
      }
    }
    add(item);
  }

  private void add(Item item) {
    synchronized (this) {
      waiting.add(item);
    }
    write();
  }

  /** Nothing goes out until {@link #release}: the client has not said that the channel is open. */
  synchronized void hold() {
    held = true;
  }

  void release() {
    synchronized (this) {
      held = false;
    }
    write();
  }

  /** Continues: the client's window has grown, or a packet was written. */
  void write() {
    synchronized (this) {
      if (writing) {
        return;
      }
      writing = true;
    }
    try {
      // Marks this thread as one of SSHD's: during a key exchange such a thread leaves its packet
      // in a queue, where another would be blocked.
      ThreadUtils.runAsInternal(this, Outlet::writeAll);
    } catch (IOException gone) {
      breakOff();
    }
  }

  private boolean writeAll() throws IOException {
    boolean more = true;
    while (more) {
      more = step();
    }
    return true;
  }

  /** Does one step; false when nothing can be done now, and then another thread may write. */
  private boolean step() throws IOException {
    Optional<Action> action;
    synchronized (this) {
      action = next();
      writing = action.isPresent();
    }
    if (action.isPresent()) {
      action.orElseThrow().run();
    }
    return action.isPresent();
  }

  private Optional<Action> next() {
    if (waiting.isEmpty() || broken || held) {
      return Optional.empty();
    }
    return switch (waiting.element()) {
      case Item.Then(var action) -> {
        waiting.remove();
        yield Optional.of(action);
      }
      case Item.Bytes item -> {
        int count = room(item.bytes().remaining());
        if (count == 0) {
          yield Optional.empty();
        }
        underWay++;
        if (count == item.bytes().remaining()) {
          waiting.remove();
        }
        yield Optional.of(() -> write(item, count));
      }
    };
  }

  private int room(int wanted) {
    var window = channel.getRemoteWindow();
    return underWay >= ClientLimits.PACKETS_UNDER_WAY
        ? 0
        : (int) Math.min(wanted, Math.min(window.getSize(), window.getPacketSize()));
  }

  private void write(Item.Bytes item, int count) throws IOException {
    byte command =
        item.isMain()
            ? SshConstants.SSH_MSG_CHANNEL_DATA
            : SshConstants.SSH_MSG_CHANNEL_EXTENDED_DATA;
    Buffer packet = channel.getSession().createBuffer(command, count + 3 * Integer.BYTES);
    packet.putUInt(channel.getRecipient());
    if (!item.isMain()) {
      packet.putUInt(SshConstants.SSH_EXTENDED_DATA_STDERR);
    }
    packet.putUInt(count);
    int position = packet.wpos();
    item.bytes().get(packet.array(), position, count);
    packet.wpos(position + count);
    channel.getRemoteWindow().consume(count);
    channel.writePacket(packet).addListener(this::written);
    if (!item.bytes().hasRemaining()) {
      item.consumed().accept(item.bytes().limit());
    }
  }

  private void written(IoWriteFuture future) {
    synchronized (this) {
      underWay--;
      broken |= !future.isWritten();
    }
    write();
  }

  /** The client is gone: what waits has no reader. */
  private synchronized void breakOff() {
    broken = true;
    writing = false;
    waiting.clear();
  }
}
