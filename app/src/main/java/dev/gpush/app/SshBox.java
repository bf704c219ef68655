package dev.gpush.app;

import dev.gpush.gateway.session.SessionService;
import dev.gpush.gateway.ssh.SshGateway;
import dev.gpush.gateway.ssh.route.PublishedSession;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Ties the knot between sessions, which tell the ssh server of their coming and going, and the ssh
 * server, which asks them for routes: each is built with something of the other.
 */
final class SshBox {
  private record Pair(SshGateway ssh, SessionService sessions) {}

  private final AtomicReference<List<Pair>> pair = new AtomicReference<>(List.of());

  void fill(SshGateway ssh, SessionService sessions) {
    pair.set(List.of(new Pair(ssh, sessions)));
  }

  void publish() {
    for (Pair known : pair.get()) {
      List<PublishedSession> sessions = known.sessions().published();
      known.ssh().publish(sessions);
    }
  }
}
