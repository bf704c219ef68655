package dev.gpush.ssh.connection;

import dev.gpush.core.session.SessionName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** A node as ssh names it: {@code devbox-1}; {@code devbox} is node 0. */
public record NodeName(SessionName session, int node) {
  private static final Pattern WITH_NODE = Pattern.compile("(.+)-(0|[1-9][0-9]{0,5})");
  private static final Pattern SESSION = Pattern.compile("[a-z][a-z0-9-]{0,31}");

  public NodeName {
    if (node < 0) {
      throw new IllegalArgumentException("nodes count from 0: " + node);
    }
  }

  /** Empty when the text cannot be a node of any session. */
  public static Optional<NodeName> parse(String user) {
    var numbered = WITH_NODE.matcher(user);
    return numbered.matches()
        ? of(numbered.group(1), Integer.parseInt(numbered.group(2)))
        : of(user, 0);
  }

  private static Optional<NodeName> of(String session, int node) {
    boolean isName = SESSION.matcher(session).matches() && !session.matches(".*-[0-9]*");
    return isName ? Optional.of(new NodeName(new SessionName(session), node)) : Optional.empty();
  }

  /** All names of this node, the shortest first: only node 0 has two. */
  public List<String> names() {
    var names = new ArrayList<String>();
    if (node == 0) {
      names.add(session.text());
    }
    names.add(session + "-" + node);
    return List.copyOf(names);
  }

  @Override
  public String toString() {
    return names().getFirst();
  }
}
