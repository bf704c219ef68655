package dev.gpush.link.frame;

import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * One frame. The payload is not copied: the maker of a frame must not change the bytes any more.
 * Reading the payload through {@link #payload()} never moves the frame's own position, so that a
 * frame can be written again when it is replayed.
 *
 * @param sequence 0 for a kind without number, and for a frame that was not written yet
 */
public record Frame(FrameKind kind, int flags, int stream, long sequence, ByteBuffer payload) {
  public Frame {
    payload = payload.slice();
  }

  public static Frame ofJson(FrameKind kind, int flags, int stream, Json json) {
    return new Frame(
        kind, flags, stream, 0, ByteBuffer.wrap(json.write().getBytes(StandardCharsets.UTF_8)));
  }

  public static Frame ofNumber(FrameKind kind, int stream, long number) {
    return new Frame(kind, 0, stream, 0, ByteBuffer.allocate(Long.BYTES).putLong(0, number));
  }

  public Frame numbered(long number) {
    return new Frame(kind, flags, stream, number, payload);
  }

  /** A view with a position of its own. */
  @Override
  public ByteBuffer payload() {
    return payload.duplicate();
  }

  public int length() {
    return payload.remaining();
  }

  /** The payload of ACK, CREDIT, PING and PONG. */
  public long number() {
    return payload.getLong(0);
  }

  /** The payload as a JSON object. */
  public Json.Obj json() throws ProtocolException {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(payload()).toString();
    } catch (CharacterCodingException notText) {
      throw new ProtocolException("json", kind + " is not UTF-8");
    }
    Json value;
    try {
      value = Json.parse(text);
    } catch (JsonSyntaxException wrong) {
      throw new ProtocolException("json", kind + ": " + wrong.getMessage());
    }
    if (!(value instanceof Json.Obj object)) {
      throw new ProtocolException("json", kind + " is not an object");
    }
    if (depth(object) > FrameLimits.MAX_DEPTH) {
      throw new ProtocolException("depth", kind + " is deeper than " + FrameLimits.MAX_DEPTH);
    }
    return object;
  }

  private static int depth(Json json) {
    return switch (json) {
      case Json.Obj(var fields) ->
          1 + fields.values().stream().mapToInt(Frame::depth).max().orElse(0);
      case Json.Arr(var items) -> 1 + items.stream().mapToInt(Frame::depth).max().orElse(0);
      case Json.Null _, Json.Bool _, Json.Int _, Json.Real _, Json.Text _ -> 0;
    };
  }
}
