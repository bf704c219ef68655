package dev.gpush.link.frame;

/** The numbers of the format (docs/technical/link.md), each with its reason. */
public final class FrameLimits {
  private FrameLimits() {}

  /** Fixed by the format. */
  public static final int HEADER_BYTES = 20;

  /**
   * A peer can make us allocate this much with 20 bytes: large enough for every OPEN, small enough
   * to be harmless.
   */
  public static final int MAX_PAYLOAD = 1 << 20;

  /** A piece of DATA: at 100 MB/s an urgent frame waits behind it for a millisecond. */
  public static final int MAX_PIECE = 128 << 10;

  /**
   * The data in one piece: with its header it fills whole messages of the transport. Twenty bytes
   * more would be a separate message on a WebSocket, which costs as much to forward as 32 KiB.
   */
  public static final int PIECE = MAX_PIECE - HEADER_BYTES;

  /** Messages are not charged to credit, so they must be small. */
  public static final int MAX_MESSAGE = 64 << 10;

  /** gpush's own messages are never deeper. */
  public static final int MAX_DEPTH = 32;

  /**
   * One write to the pipe: small frames are batched up to this; twice a Linux pipe's buffer keeps
   * the peer busy.
   */
  public static final int WRITE_BATCH = 256 << 10;

  /** One read from the pipe: a Linux pipe holds no more. */
  public static final int READ_BATCH = 64 << 10;
}
