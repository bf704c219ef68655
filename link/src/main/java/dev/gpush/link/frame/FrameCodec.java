package dev.gpush.link.frame;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The 20 bytes before each payload: written, and checked when read. Pure; the bytes are moved by
 * reader and writer.
 */
public final class FrameCodec {
  private static final int FIRST_IGNORED_KIND = 0x80;

  /** A checked header; without kind when the frame must be skipped. */
  public record Header(
      Optional<FrameKind> kind, int length, int flags, int stream, long sequence) {}

  public void encodeHeader(Frame frame, ByteBuffer target) {
    target
        .putInt(frame.length())
        .put((byte) frame.kind().code())
        .put((byte) frame.flags())
        .putShort((short) 0)
        .putInt(frame.stream())
        .putLong(frame.sequence());
  }

  /** The whole frame in a new buffer. */
  public ByteBuffer encode(Frame frame) {
    ByteBuffer bytes = ByteBuffer.allocate(FrameLimits.HEADER_BYTES + frame.length());
    encodeHeader(frame, bytes);
    return bytes.put(frame.payload()).flip();
  }

  /**
   * Reads 20 bytes. Everything that can be said without the payload and without the state of the
   * link is checked here.
   */
  public Header decodeHeader(ByteBuffer source) throws ProtocolException {
    int length = source.getInt();
    int code = Byte.toUnsignedInt(source.get());
    int flags = Byte.toUnsignedInt(source.get());
    int reserved = Short.toUnsignedInt(source.getShort());
    int stream = source.getInt();
    long sequence = source.getLong();
    require(
        length >= 0 && length <= FrameLimits.MAX_PAYLOAD,
        "length",
        Integer.toUnsignedString(length));
    require(reserved == 0, "reserved", Integer.toString(reserved));
    Optional<FrameKind> known = FrameKind.ofCode(code);
    if (known.isEmpty()) {
      require(code >= FIRST_IGNORED_KIND, "kind", Integer.toString(code));
      require(sequence == 0, "sequence", code + " " + Long.toUnsignedString(sequence));
      return new Header(known, length, flags, stream, sequence);
    }
    FrameKind kind = known.orElseThrow();
    require((flags & ~kind.flagMask()) == 0, "flags", kind + " " + flags);
    require(
        (stream != 0) == kind.isOfStream(),
        "stream",
        kind + " " + Integer.toUnsignedString(stream));
    require(
        kind.isSequenced() ? sequence > 0 : sequence == 0,
        "sequence",
        kind + " " + Long.toUnsignedString(sequence));
    require(length <= kind.maxPayload(), "length", kind + " " + length);
    require(
        kind.shape() != FrameKind.Shape.NUMBER || length == Long.BYTES,
        "length",
        kind + " " + length);
    return new Header(known, length, flags, stream, sequence);
  }

  private static void require(boolean holds, String rule, String facts) throws ProtocolException {
    if (!holds) {
      throw new ProtocolException(rule, facts);
    }
  }
}
