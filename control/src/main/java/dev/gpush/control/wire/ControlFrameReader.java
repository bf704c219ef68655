package dev.gpush.control.wire;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.Optional;

/**
 * Takes frames off a channel. A length is checked against its kind's limit, and memory is allocated
 * only as bytes arrive.
 */
public final class ControlFrameReader {
  /** Length and kind. */
  static final int HEADER = Integer.BYTES + 1;

  private final ReadableByteChannel channel;
  private final ByteBuffer buffer = ByteBuffer.allocate(Kind.CHUNK + HEADER).limit(0);

  public ControlFrameReader(ReadableByteChannel channel) {
    this.channel = channel;
  }

  /** The next frame; empty when the other end closed between two frames. */
  public Optional<ControlFrame> next() throws IOException {
    while (buffer.remaining() < HEADER) {
      if (!fill()) {
        if (!buffer.hasRemaining()) {
          return Optional.empty();
        }
        throw new EOFException("closed inside a frame's header");
      }
    }
    int length = buffer.getInt();
    int number = buffer.get();
    Optional<Kind> kind = Kind.of(number);
    if (kind.isEmpty()) {
      throw new ControlProtocolException("no frame has kind " + number);
    }
    if (length < 0 || length > kind.get().limit()) {
      throw new ControlProtocolException(
          kind.get() + " of " + length + " bytes; the limit is " + kind.get().limit());
    }
    return Optional.of(new ControlFrame(kind.get(), payload(kind.get(), length)));
  }

  private byte[] payload(Kind kind, int length) throws IOException {
    byte[] payload = new byte[length <= Kind.CHUNK ? length : Kind.SMALL];
    int size = 0;
    while (size < length) {
      if (size == payload.length) {
        payload = Arrays.copyOf(payload, Math.min(length, 2 * size));
      }
      int room = Math.min(payload.length - size, Kind.CHUNK);
      size += take(kind, ByteBuffer.wrap(payload, size, room));
    }
    return payload;
  }

  /** Takes what was read ahead first. */
  private int take(Kind kind, ByteBuffer target) throws IOException {
    if (buffer.hasRemaining()) {
      int count = Math.min(target.remaining(), buffer.remaining());
      buffer.get(target.array(), target.arrayOffset() + target.position(), count);
      return count;
    }
    int count = channel.read(target);
    if (count < 0) {
      throw new EOFException("closed inside " + kind);
    }
    return count;
  }

  private boolean fill() throws IOException {
    buffer.compact();
    int count = channel.read(buffer);
    buffer.flip();
    return count >= 0;
  }
}
