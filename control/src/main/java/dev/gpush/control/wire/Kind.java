package dev.gpush.control.wire;

import java.util.Optional;

/** What a frame is, its number on the wire, and how long its payload may be. */
public enum Kind {
  /** Both directions, first: {@link Greeting}. */
  HELLO(1, Kind.SMALL),

  /** Client: {@link Request}, once. */
  REQUEST(2, Request.MAX_BYTES),
  /** Client: bytes of standard input, never more than was wanted. */
  INPUT(3, Kind.CHUNK),
  /** Client: standard input is at its end. */
  INPUT_END(4, 0),
  /** Client: a signal's name. */
  SIGNAL(5, Kind.SMALL),
  /** Client: columns and rows of the terminal now. */
  SIZE(6, Kind.SMALL),
  /** Client: the exit status of what SPAWN asked for. */
  SPAWNED(7, Kind.SMALL),
  /** Client: the answer to ASK: whether there is one, and the line. */
  ANSWER(8, Kind.SMALL),
  /** Client: standard output (1) or error (2) is no longer read. */
  BROKEN(9, Kind.SMALL),
  /** Client, instead of REQUEST: end, another build takes over; byte 1 means even when in use. */
  HANDOVER(10, Kind.SMALL),

  /** Server: bytes for standard output. */
  OUTPUT(32, Kind.CHUNK),
  /** Server: bytes for standard error. */
  ERROR(33, Kind.CHUNK),
  /** Server: the terminal's keys come raw (1) or as usual (0). */
  RAW(34, Kind.SMALL),
  /** Server: run this program on the client's own streams. */
  SPAWN(35, Request.MAX_BYTES),
  /** Server: that many more bytes of standard input may come. */
  WANT(36, Kind.SMALL),
  /** Server: ask the user this question. */
  ASK(37, Kind.SMALL),
  /** Server, last: the exit status. */
  EXIT(38, Kind.SMALL),
  /** Server, last: the request is refused, and why. */
  REFUSED(39, Kind.SMALL),
  /** Server, last: whether it ends for another build. */
  HANDED_OVER(40, Kind.SMALL);

  /**
   * The most bytes of a stream in one frame: large enough that the frame costs nothing, small
   * enough to go between others.
   */
  public static final int CHUNK = 64 * 1024;

  /** The most bytes of a frame that carries a name, a number or a line. */
  public static final int SMALL = 16 * 1024;

  private final int number;
  private final int limit;

  Kind(int number, int limit) {
    this.number = number;
    this.limit = limit;
  }

  public int number() {
    return number;
  }

  /** The most bytes a payload of this kind may have. */
  public int limit() {
    return limit;
  }

  /** The kind with this number, if there is one. */
  public static Optional<Kind> of(int number) {
    for (Kind kind : ALL) {
      if (kind.number == number) {
        return Optional.of(kind);
      }
    }
    return Optional.empty();
  }

  private static final Kind[] ALL = values();
}
