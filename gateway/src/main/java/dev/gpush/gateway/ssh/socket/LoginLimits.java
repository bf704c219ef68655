package dev.gpush.gateway.ssh.socket;

import java.time.Duration;

/**
 * The limits of connections that have not logged in.
 *
 * @param served at a time: each has a thread and buffers, and computes keys
 * @param waiting for their turn: each has a descriptor
 * @param silence how long one that is served and has sent nothing may go on so while another waits
 * @param stall the same for one that has sent something: its client may be computing keys
 */
public record LoginLimits(int served, int waiting, Duration silence, Duration stall) {
  public LoginLimits {
    if (served < 1 || waiting < 1 || silence.isNegative() || stall.isNegative()) {
      throw new IllegalArgumentException("limits that let nobody in");
    }
  }
}
