package dev.gpush.link.frame;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Frames from a pipe. Reads as much as the pipe gives and hands out each payload in an array of its
 * own: a slice of a shared read buffer would save one copy of at most 64 KiB, but a receiver that
 * keeps one byte would then keep the whole buffer, and the memory of a slow receiver could not be
 * bounded by its credit. What the buffer does not hold yet is read straight into the payload's
 * array. One thread only.
 */
public final class FrameReader {
  private final FrameCodec codec = new FrameCodec();
  private final InputStream input;
  private final byte[] buffer = new byte[FrameLimits.READ_BATCH];
  private int start;
  private int end;

  public FrameReader(InputStream input) {
    this.input = input;
  }

  /** The next frame; empty at a clean end of the pipe. */
  public Optional<Frame> next() throws IOException {
    while (true) {
      if (!fill(FrameLimits.HEADER_BYTES)) {
        return Optional.empty();
      }
      var header = codec.decodeHeader(ByteBuffer.wrap(buffer, start, FrameLimits.HEADER_BYTES));
      start += FrameLimits.HEADER_BYTES;
      byte[] payload = payload(header.length());
      if (header.kind().isPresent()) {
        return Optional.of(
            new Frame(
                header.kind().orElseThrow(),
                header.flags(),
                header.stream(),
                header.sequence(),
                ByteBuffer.wrap(payload)));
      }
    }
  }

  private byte[] payload(int length) throws IOException {
    byte[] payload = new byte[length];
    int held = Math.min(length, end - start);
    System.arraycopy(buffer, start, payload, 0, held);
    start += held;
    if (held < length && input.readNBytes(payload, held, length - held) < length - held) {
      throw new EOFException("pipe ended inside a frame");
    }
    return payload;
  }

  /** Makes the buffer hold this many bytes; false when the pipe ended before the first of them. */
  private boolean fill(int wanted) throws IOException {
    if (end - start < wanted && buffer.length - start < wanted) {
      System.arraycopy(buffer, start, buffer, 0, end - start);
      end -= start;
      start = 0;
    }
    if (start == end) {
      start = 0;
      end = 0;
    }
    while (end - start < wanted) {
      int count = input.read(buffer, end, buffer.length - end);
      if (count < 0) {
        if (end > start) {
          throw new EOFException("pipe ended inside a header");
        }
        return false;
      }
      end += count;
    }
    return true;
  }
}
