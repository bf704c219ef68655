package dev.gpush.control.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/** Puts frames on a channel, each whole, whichever thread it comes from. */
public final class ControlFrameWriter {
  private final WritableByteChannel channel;

  // guarded by this: one buffer for header and payload, so that a frame is one system call
  private final ByteBuffer buffer = ByteBuffer.allocate(Kind.CHUNK + ControlFrameReader.HEADER);

  public ControlFrameWriter(WritableByteChannel channel) {
    this.channel = channel;
  }

  public void write(ControlFrame frame) throws IOException {
    write(frame.kind(), frame.payload(), frame.payload().length);
  }

  /**
   * Writes a frame whose payload is the beginning of an array; the array may be used again after
   * the call.
   */
  public synchronized void write(Kind kind, byte[] bytes, int length) throws IOException {
    buffer.clear().putInt(length).put((byte) kind.number());
    int fits = Math.min(length, buffer.remaining());
    buffer.put(bytes, 0, fits).flip();
    writeAll(buffer);
    if (fits < length) {
      writeAll(ByteBuffer.wrap(bytes, fits, length - fits));
    }
  }

  private void writeAll(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
