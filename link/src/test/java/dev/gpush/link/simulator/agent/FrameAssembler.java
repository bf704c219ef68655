package dev.gpush.link.simulator.agent;

import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameCodec;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.frame.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/** Frames from bytes as they come, without waiting for more. */
public final class FrameAssembler {
  private final FrameCodec codec = new FrameCodec();
  private byte[] bytes = new byte[1 << 10];
  private int start;
  private int end;

  public void add(byte[] more) {
    if (bytes.length - end < more.length) {
      byte[] larger =
          end - start + more.length > bytes.length / 2
              ? new byte[2 * (end - start + more.length)]
              : bytes;
      System.arraycopy(bytes, start, larger, 0, end - start);
      bytes = larger;
      end -= start;
      start = 0;
    }
    System.arraycopy(more, 0, bytes, end, more.length);
    end += more.length;
  }

  /** The next whole frame, if there is one. */
  public Optional<Frame> next() throws ProtocolException {
    if (end - start < FrameLimits.HEADER_BYTES) {
      return Optional.empty();
    }
    var header = codec.decodeHeader(ByteBuffer.wrap(bytes, start, FrameLimits.HEADER_BYTES));
    int from = start + FrameLimits.HEADER_BYTES;
    if (end - from < header.length()) {
      return Optional.empty();
    }
    start = from + header.length();
    return Optional.of(
        new Frame(
            header.kind().orElseThrow(),
            header.flags(),
            header.stream(),
            header.sequence(),
            ByteBuffer.wrap(Arrays.copyOfRange(bytes, from, start))));
  }
}
