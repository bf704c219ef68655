package dev.gpush.link.frame;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * Frames to a pipe, many per write. A pipe is an OutputStream, which cannot gather; so headers and
 * small payloads are laid into one batch and a large payload's array is written as it is. One
 * thread only; nothing is written to the pipe before {@link #flush}.
 */
public final class FrameWriter {
  /** From this size on, a separate write is cheaper than a copy. */
  private static final int COPY_BELOW = 32 << 10;

  private final FrameCodec codec = new FrameCodec();
  private final OutputStream output;
  private final ByteBuffer batch = ByteBuffer.allocate(FrameLimits.WRITE_BATCH);

  public FrameWriter(OutputStream output) {
    this.output = output;
  }

  public void write(Frame frame) throws IOException {
    if (batch.remaining() < FrameLimits.HEADER_BYTES) {
      drain();
    }
    codec.encodeHeader(frame, batch);
    ByteBuffer payload = frame.payload();
    if (payload.remaining() >= COPY_BELOW && payload.hasArray()) {
      fillUp(payload);
      drain();
      output.write(
          payload.array(), payload.arrayOffset() + payload.position(), payload.remaining());
      return;
    }
    while (payload.hasRemaining()) {
      fillUp(payload);
      if (payload.hasRemaining()) {
        drain();
      }
    }
  }

  /**
   * A header alone would wake the reader for twenty bytes: it travels with the first few KiB of its
   * payload.
   */
  private void fillUp(ByteBuffer payload) {
    int count =
        Math.min(
            payload.remaining(),
            Math.min(batch.remaining(), COPY_BELOW - FrameLimits.HEADER_BYTES));
    batch.put(batch.position(), payload, payload.position(), count);
    batch.position(batch.position() + count);
    payload.position(payload.position() + count);
  }

  private void drain() throws IOException {
    output.write(batch.array(), 0, batch.position());
    batch.clear();
  }

  public void flush() throws IOException {
    if (batch.position() > 0) {
      drain();
    }
    output.flush();
  }
}
