package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.text.Nearest;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionEnvironment;
import dev.gpush.gateway.session.live.SessionRegistry;
import dev.gpush.ssh.connection.NodeName;
import dev.gpush.ssh.connection.PublishedSession;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.connection.Routes;
import java.util.List;
import java.util.Optional;

/** Finds the node that an ssh user name means, among the sessions of this gateway. */
public final class SessionRoutes implements Routes {
  private final SessionRegistry sessions;
  private final SessionLinks links;

  SessionRoutes(SessionRegistry sessions, SessionLinks links) {
    this.sessions = sessions;
    this.links = links;
  }

  @Override
  public Route route(String user) throws InterruptedException {
    Optional<NodeName> name = NodeName.parse(user);
    if (name.isEmpty()) {
      List<String> known = sessions.all().stream().map(session -> session.name().text()).toList();
      return new Route.Refused(
          new UsageFailure.UnknownSession(user, Nearest.one(user, known).stream().toList(), known));
    }
    try {
      LiveSession session = sessions.named(name.get().session());
      session.requireUsable();
      session.requireNodes();
      links.await(session, "ssh");
      int node = name.get().node();
      if (session.isLost(node)) {
        session.requireWhole();
      }
      return new Route.Node(
          session.link(node),
          SessionEnvironment.onNode(session.entry(), session.gang(), session.node(node)),
          session.node(node).workspace());
    } catch (GpushException failed) {
      return new Route.Refused(failed.failure());
    }
  }

  /** The sessions for the ssh config file: all that have nodes. */
  public List<PublishedSession> published() {
    return sessions.all().stream()
        .filter(session -> nodes(session) > 0)
        .map(session -> new PublishedSession(session.name(), nodes(session)))
        .toList();
  }

  private static int nodes(LiveSession session) {
    return session.entry().grant().map(gang -> gang.nodes().size()).orElse(0);
  }
}
