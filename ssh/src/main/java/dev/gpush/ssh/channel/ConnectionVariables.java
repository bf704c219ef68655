package dev.gpush.ssh.channel;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.sshd.common.io.IoSession;

/** The variables by which a program learns of the ssh connection that it belongs to. */
final class ConnectionVariables {
  private ConnectionVariables() {}

  /**
   * As sshd sets them.
   *
   * @param agent the socket on the node of the client's own ssh agent
   */
  static Map<String, String> of(IoSession connection, Optional<String> agent) {
    var variables = new LinkedHashMap<String, String>();
    if (connection.getRemoteAddress() instanceof InetSocketAddress client
        && connection.getLocalAddress() instanceof InetSocketAddress server) {
      String from = client.getAddress().getHostAddress() + " " + client.getPort();
      variables.put("SSH_CLIENT", from + " " + server.getPort());
      variables.put(
          "SSH_CONNECTION",
          from + " " + server.getAddress().getHostAddress() + " " + server.getPort());
    }
    agent.ifPresent(socket -> variables.put("SSH_AUTH_SOCK", socket));
    return variables;
  }
}
