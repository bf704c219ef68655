package dev.gpush.ssh.connection;

import java.time.Duration;

/** The limits of one client. */
public final class ClientLimits {
  private ClientLimits() {}

  /**
   * Channels of one connection: an editor needs tens, a browser behind a SOCKS proxy a thousand. It
   * is half of the streams of a node's link, so that there is room for another connection. OpenSSH
   * is limited by its descriptors, of which it usually has 1,024.
   */
  public static final int CHANNELS = 2_048;

  /**
   * From the beginning of service to the end of authentication, as sshd: the user types nothing in
   * between, but the machine may be busy.
   */
  public static final Duration LOGIN = Duration.ofMinutes(2);

  /** As sshd: a client with several keys may offer others first. */
  public static final int AUTHENTICATION_ATTEMPTS = 6;

  /**
   * What a client may send before the node has taken it. It bounds the memory of one channel, and
   * on the loopback interface more does not make it faster.
   */
  public static final long WINDOW_BYTES = 2L << 20;

  /**
   * The largest packet that a client may send: the usual 32 KiB, of which clients do not send more,
   * less the link's header. So it is forwarded as one message where the limit is 32 KiB.
   */
  public static final int PACKET_BYTES = (32 << 10) - 20;

  /**
   * Packets of one channel that are encrypted and not yet with the kernel: enough to keep it busy,
   * and few enough that a slow client costs little.
   */
  public static final int PACKETS_UNDER_WAY = 4;

  /** Variables that a client may set, and what they may hold together. */
  public static final int ENVIRONMENT_ENTRIES = 64;

  public static final int ENVIRONMENT_CHARACTERS = 64 << 10;

  /** A stream is opened with one frame of at most 1 MiB, and JSON may double a command's length. */
  public static final int COMMAND_BYTES = 384 << 10;

  /** Signals and sizes that come before the node has answered. */
  public static final int EARLY_MESSAGES = 16;

  /** Ports and sockets that one connection may have listening on the node. */
  static final int LISTENERS = 64;

  /**
   * Longer than any pause of a client that is asleep, and shorter than forever for SSHD's timers.
   */
  public static final Duration NEVER = Duration.ofDays(365);
}
