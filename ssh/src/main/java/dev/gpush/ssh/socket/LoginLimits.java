package dev.gpush.ssh.socket;

import java.time.Duration;

/**
 * The limits of connections that have not logged in.
 *
 * @param served at a time: each has a thread and buffers, and computes keys
 * @param stalled beside them: each has a thread and buffers, and waits for its client
 * @param waiting for their turn: each has a descriptor
 * @param silence how long one that is served and has sent nothing keeps its place while another
 *     waits
 * @param stall the same for one that has sent something: its client may be computing keys
 */
public record LoginLimits(int served, int stalled, int waiting, Duration silence, Duration stall) {
  public LoginLimits {
    if (served < 1 || stalled < 0 || waiting < 1 || silence.isNegative() || stall.isNegative()) {
      throw new IllegalArgumentException("limits that let nobody in");
    }
  }
}
