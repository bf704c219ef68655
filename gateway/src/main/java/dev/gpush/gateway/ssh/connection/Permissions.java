package dev.gpush.gateway.ssh.connection;

import java.util.Optional;

/**
 * What a login may do: limits written beside its key, or in its certificate.
 *
 * @param terminals whether it may have terminals
 * @param ports whether it may forward ports and sockets, both ways
 * @param agents whether it may forward an agent
 * @param command runs instead of whatever the client asks for
 */
public record Permissions(
    boolean terminals, boolean ports, boolean agents, Optional<String> command) {
  public static final Permissions ALL = new Permissions(true, true, true, Optional.empty());

  public static final Permissions NONE = new Permissions(false, false, false, Optional.empty());

  public Permissions withTerminals(boolean allowed) {
    return new Permissions(allowed, ports, agents, command);
  }

  public Permissions withPorts(boolean allowed) {
    return new Permissions(terminals, allowed, agents, command);
  }

  public Permissions withAgents(boolean allowed) {
    return new Permissions(terminals, ports, allowed, command);
  }

  public Permissions withCommand(String forced) {
    return new Permissions(terminals, ports, agents, Optional.of(forced));
  }

  /** What both allow; they must not force two different commands. */
  public Permissions and(Permissions other) {
    return new Permissions(
        terminals && other.terminals,
        ports && other.ports,
        agents && other.agents,
        command.or(other::command));
  }
}
