package dev.gpush.ssh.connection;

import dev.gpush.core.failure.Failure;
import dev.gpush.link.Link;
import java.util.Map;

/** The result of looking up a user name. */
public sealed interface Route {
  /**
   * The node.
   *
   * @param environment takes precedence over the agent's own for everything that is started
   * @param workspace where a shell with a terminal starts
   */
  record Node(Link link, Map<String, String> environment, String workspace) implements Route {
    public Node {
      environment = Map.copyOf(environment);
    }
  }

  /** There is no such node, or it cannot be used; the user reads why, and what to try. */
  record Refused(Failure failure) implements Route {}
}
