package dev.gpush.core.talk;

import dev.gpush.core.json.Json;

/** The gateway's own commands. */
public interface GatewayControl {
  /**
   * pid, version, build, home, sockets, ssh port, uptime, sessions, agents (session, node, link
   * state, agent pid), memory.
   */
  Json status();

  /**
   * Ends the gateway after the answer was given; sessions and runs stay, the next command brings it
   * back.
   */
  void stop();
}
