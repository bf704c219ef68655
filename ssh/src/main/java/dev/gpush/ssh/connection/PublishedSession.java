package dev.gpush.ssh.connection;

import dev.gpush.core.session.SessionName;
import java.util.List;
import java.util.stream.IntStream;

/** A session as ssh clients see it: one host for each node. */
public record PublishedSession(SessionName name, int nodes) {
  public PublishedSession {
    if (nodes < 1) {
      throw new IllegalArgumentException("a session without nodes: " + name);
    }
  }

  public List<NodeName> hosts() {
    return IntStream.range(0, nodes).mapToObj(node -> new NodeName(name, node)).toList();
  }
}
