package dev.gpush.link.machine;

import dev.gpush.link.frame.FrameLimits;

/** The limits of a link (docs/technical/link.md), each with its reason. */
public final class LinkLimits {
  private LinkLimits() {}

  /**
   * Open streams of one link: an editor server and its port forwards need hundreds, a runaway
   * client must end somewhere.
   */
  public static final int MAX_STREAMS = 4_096;

  /**
   * First receive window of a stream: enough for a terminal and for 100 MB/s within a data centre.
   */
  public static final int DEFAULT_WINDOW = 64 << 10;

  /** Largest receive window: 1 Gbit/s over 30 ms. */
  public static final int MAX_WINDOW = 4 << 20;

  /** First window once the pool is used up. */
  public static final int SMALL_WINDOW = 16 << 10;

  /**
   * All windows we granted together, and all that we keep for replay: what one link may cost of the
   * gateway's memory.
   */
  public static final long POOL_BYTES = 128L << 20;

  /** What a kept frame costs beside its payload: tiny ones fill the pool as large ones do. */
  public static final int FRAME_COST = 256;

  /**
   * Frames that are no DATA, waiting or not acknowledged. A peer opens and closes streams and takes
   * none of our answers: without an end to that it would fill our memory. All streams at once owe
   * fewer.
   */
  public static final int MAX_UNACKNOWLEDGED = 32_768;

  /** What goes ahead of bulk: a keystroke, an echo, a request line. */
  public static final int SMALL_FRAME = 4 << 10;

  /** Acknowledgements, credits and the like that are written with one small frame. */
  public static final int CONTROL_FRAMES = 16;

  /** What is certainly passed on in one piece by a pipe that holds back. */
  public static final int ONE_PIECE = 1_000;

  /**
   * ACK through such a pipe: what the agent sends next may wait for it. Not at once, because the
   * answer to a request is often followed by the next one, which serves as well.
   */
  public static final long ACK_SOON_NANOS = 15_000_000L;

  /** Room for a small frame and the control frames before and after it. */
  public static final int SMALL_WRITE =
      SMALL_FRAME + (CONTROL_FRAMES + 3) * (FrameLimits.HEADER_BYTES + Long.BYTES);

  /**
   * After so many urgent and small frames one piece of bulk goes, so that chatter cannot starve a
   * transfer.
   */
  public static final int SMALL_IN_A_ROW = 64;

  /**
   * Waiting messages of one stream are not charged to credit; a peer that leaves more than this is
   * not reading.
   */
  public static final int MAX_WAITING_MESSAGES = 1_024;

  /** ACK at the latest after so many frames … */
  public static final int ACK_FRAMES = 64;

  /** … or so many bytes … */
  public static final int ACK_BYTES = 512 << 10;

  /** … or so long after a sequenced frame. */
  public static final long ACK_NANOS = 50_000_000L;

  /**
   * So many pipes in a row that end with BYE protocol are a bug on one side: trying again would
   * only replay it.
   */
  public static final int MAX_PROTOCOL_ERRORS = 3;
}
