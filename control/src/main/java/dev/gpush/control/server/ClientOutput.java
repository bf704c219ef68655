package dev.gpush.control.server;

import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.Kind;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/** One of the client's output streams. */
final class ClientOutput extends OutputStream {
  private final Outbox outbox;
  private final Kind kind;
  private volatile boolean closedByReader;

  ClientOutput(Outbox outbox, Kind kind) {
    this.outbox = outbox;
    this.kind = kind;
  }

  /** The stream is no longer read. */
  void breakOff() {
    closedByReader = true;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    for (int done = 0; done < length; ) {
      if (closedByReader) {
        throw new IOException("nobody reads this stream any more");
      }
      int count = Math.min(length - done, kind.limit());
      outbox.put(
          new ControlFrame(kind, Arrays.copyOfRange(bytes, offset + done, offset + done + count)));
      done += count;
    }
  }
}
