package dev.gpush.app;

import dev.gpush.gateway.session.SessionService;
import dev.gpush.ssh.SshGateway;
import dev.gpush.ssh.route.PublishedSession;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Connects the sessions and the ssh server, which need each other: sessions report changes to the
 * server, and the server asks them for routes.
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
