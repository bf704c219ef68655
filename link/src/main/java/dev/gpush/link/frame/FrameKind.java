package dev.gpush.link.frame;

import java.util.Optional;

/** The kinds of frames, with what the specification fixes for each. */
public enum FrameKind {
  HELLO(0x01, Place.LINK, Shape.JSON),
  WELCOME(0x02, Place.LINK, Shape.JSON),
  ACK(0x03, Place.LINK, Shape.NUMBER),
  CREDIT(0x04, Place.STREAM_UNSEQUENCED, Shape.NUMBER),
  PING(0x05, Place.LINK, Shape.NUMBER),
  PONG(0x06, Place.LINK, Shape.NUMBER),
  BYE(0x07, Place.LINK, Shape.JSON),
  OPEN(0x10, Place.STREAM, Shape.JSON),
  OPENED(0x11, Place.STREAM, Shape.JSON),
  REFUSED(0x12, Place.STREAM, Shape.JSON),
  DATA(0x13, Place.STREAM, Shape.BYTES),
  END(0x14, Place.STREAM, Shape.EMPTY),
  MESSAGE(0x15, Place.STREAM, Shape.JSON),
  CLOSE(0x16, Place.STREAM, Shape.JSON);

  /** Where a kind may occur, and whether it has a sequence number. */
  enum Place {
    LINK,
    STREAM_UNSEQUENCED,
    STREAM
  }

  /** What the payload is. */
  public enum Shape {
    JSON,
    NUMBER,
    BYTES,
    EMPTY
  }

  private final int code;
  private final Place place;
  private final Shape shape;

  FrameKind(int code, Place place, Shape shape) {
    this.code = code;
    this.place = place;
    this.shape = shape;
  }

  public int code() {
    return code;
  }

  /** Whether frames of this kind are numbered, acknowledged and replayed. */
  public boolean isSequenced() {
    return place == Place.STREAM;
  }

  /** Whether frames of this kind belong to a stream, not to the link itself. */
  public boolean isOfStream() {
    return place != Place.LINK;
  }

  public Shape shape() {
    return shape;
  }

  /** The flags that this kind may carry. */
  int flagMask() {
    return switch (this) {
      case DATA, END, MESSAGE -> 1;
      case HELLO, WELCOME, ACK, CREDIT, PING, PONG, BYE, OPEN, OPENED, REFUSED, CLOSE -> 0;
    };
  }

  /** The largest payload that this kind may carry. */
  int maxPayload() {
    return switch (shape) {
      case NUMBER -> Long.BYTES;
      case EMPTY -> 0;
      case BYTES -> FrameLimits.MAX_PIECE;
      case JSON -> this == MESSAGE ? FrameLimits.MAX_MESSAGE : FrameLimits.MAX_PAYLOAD;
    };
  }

  public static Optional<FrameKind> ofCode(int code) {
    return switch (code) {
      case 0x01 -> Optional.of(HELLO);
      case 0x02 -> Optional.of(WELCOME);
      case 0x03 -> Optional.of(ACK);
      case 0x04 -> Optional.of(CREDIT);
      case 0x05 -> Optional.of(PING);
      case 0x06 -> Optional.of(PONG);
      case 0x07 -> Optional.of(BYE);
      case 0x10 -> Optional.of(OPEN);
      case 0x11 -> Optional.of(OPENED);
      case 0x12 -> Optional.of(REFUSED);
      case 0x13 -> Optional.of(DATA);
      case 0x14 -> Optional.of(END);
      case 0x15 -> Optional.of(MESSAGE);
      case 0x16 -> Optional.of(CLOSE);
      default -> Optional.empty();
    };
  }
}
