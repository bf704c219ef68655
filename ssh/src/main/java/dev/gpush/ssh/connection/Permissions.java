package dev.gpush.ssh.connection;

import java.util.Optional;

/**
 * What a login may do: limits written beside its key, or in its certificate.
 *
 * @param terminals whether it may have terminals
 * @param forwarding which ports and sockets it may forward, both ways
 * @param agents whether it may forward an agent
 * @param command runs instead of whatever the client asks for
 */
public record Permissions(
    boolean terminals, Forwarding forwarding, boolean agents, Optional<String> command) {
  public static final Permissions ALL =
      new Permissions(true, Forwarding.ALL, true, Optional.empty());

  public static final Permissions NONE =
      new Permissions(false, Forwarding.NONE, false, Optional.empty());

  public Permissions withTerminals(boolean allowed) {
    return new Permissions(allowed, forwarding, agents, command);
  }

  public Permissions withForwarding(Forwarding allowed) {
    return new Permissions(terminals, allowed, agents, command);
  }

  public Permissions withAgents(boolean allowed) {
    return new Permissions(terminals, forwarding, allowed, command);
  }

  public Permissions withCommand(String forced) {
    return new Permissions(terminals, forwarding, agents, Optional.of(forced));
  }

  /** What both allow; they must not force two different commands. */
  public Permissions and(Permissions other) {
    return new Permissions(
        terminals && other.terminals,
        forwarding.and(other.forwarding),
        agents && other.agents,
        command.or(other::command));
  }
}
