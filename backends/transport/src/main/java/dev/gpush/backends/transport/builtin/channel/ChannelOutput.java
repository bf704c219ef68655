package dev.gpush.backends.transport.builtin.channel;

import java.io.IOException;
import java.io.OutputStream;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Writes to a channel no more than the other end has room for, so that no write ever waits inside
 * the library. There a writer waits with the stream's monitor held, which the thread that reads
 * from the network takes to close the stream: a command that ended without reading its input would
 * stop the whole connection; and after half a minute the wait would fail, though nothing is wrong.
 */
final class ChannelOutput extends OutputStream {
  private final OutputStream channel;
  private final LongSupplier room;
  private final BooleanSupplier isOver;
  private final ChannelWait changes;
  private final Object closing = new Object();
  // guarded by closing
  private boolean isClosed;

  ChannelOutput(
      OutputStream channel, LongSupplier room, BooleanSupplier isOver, ChannelWait changes) {
    this.channel = channel;
    this.room = room;
    this.isOver = isOver;
    this.changes = changes;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int at = 0;
    while (at < length) {
      changes.awaitFor(() -> isOver.getAsBoolean() || room.getAsLong() > 0);
      if (isOver.getAsBoolean()) {
        throw new IOException("the command has ended, or the way to it");
      }
      int part = (int) Math.min(length - at, room.getAsLong());
      channel.write(bytes, offset + at, part);
      channel.flush();
      at += part;
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (closing) {
      if (isClosed) {
        return;
      }
      isClosed = true;
    }
    channel.close();
  }
}
