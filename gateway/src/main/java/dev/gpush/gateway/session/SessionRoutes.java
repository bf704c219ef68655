package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.Nearest;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionEnvironment;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.ssh.route.NodeName;
import dev.gpush.ssh.route.Route;
import dev.gpush.ssh.route.Routes;
import java.util.List;
import java.util.Optional;

/** Finds the node that an ssh user name means, among the sessions of this gateway. */
final class SessionRoutes implements Routes {
  private final GatewaySessions sessions;
  private final SessionLinks linker;

  SessionRoutes(GatewaySessions sessions, SessionLinks linker) {
    this.sessions = sessions;
    this.linker = linker;
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
      LiveSession session = sessions.find(name.get().session());
      session.requireUsable();
      session.requireNodes();
      if (session.links().isEmpty()) {
        // The session is just being made or recovered: its turn ends when it is linked.
        try (TurnQueue.Turn _ = session.begin("ssh", Talk.silent())) {
          linker.linked(session, Talk.silent());
        }
      }
      int node = name.get().node();
      if (session.isLost(node)) {
        session.requireWhole();
      }
      if (node == 0) {
        session.workIfAny().ifPresent(work -> work.live().visited());
      }
      return new Route.Node(
          session.link(node),
          SessionEnvironment.onNode(session.entry(), session.gang(), session.node(node)),
          session.node(node).workspace());
    } catch (GpushException failed) {
      return new Route.Refused(failed.failure());
    }
  }
}
