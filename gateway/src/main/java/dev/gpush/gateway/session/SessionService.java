package dev.gpush.gateway.session;

import dev.gpush.core.agent.AgentProgram;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Configs;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.links.LinkMaker;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.gateway.session.live.SessionWorks;
import dev.gpush.gateway.session.placement.Preferences;
import dev.gpush.gateway.session.views.SessionViews;
import dev.gpush.ssh.route.PublishedSession;
import dev.gpush.ssh.route.Routes;
import dev.gpush.sync.git.GitPlaces;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/** Everything about sessions in one gateway process, built and taken down in the right order. */
public final class SessionService implements AutoCloseable {
  private final GatewaySessions sessions;
  private final GatewayRuns runs;
  private final Recovery recovery;
  private final Tasks own;

  /**
   * @param changed called on a command's thread whenever sessions come or go, for the ssh config
   */
  public SessionService(
      GatewayIdentity identity,
      Backends backends,
      Configs configs,
      FabricPlans plans,
      AgentProgram agent,
      GitPlaces gitPlaces,
      SessionTiming timing,
      Clock clock,
      SecureRandom random,
      Tasks tasks,
      Runnable changed) {
    this.own = tasks.group("sessions");
    var ledger = new Ledger(identity.home().resolve("ledger"));
    var works = new SessionWorks(identity.home(), gitPlaces, configs, plans, clock, own);
    this.sessions =
        new GatewaySessions(
            identity,
            ledger,
            backends,
            configs,
            new LinkMaker(agent, identity, timing.link(), clock, random, own),
            works::make,
            timing,
            new SessionViews(own),
            new Preferences(identity.home().resolve("folders")),
            clock,
            random,
            own,
            changed);
    this.runs = new GatewayRuns(sessions, sessions.linker(), clock, own);
    this.recovery =
        new Recovery(
            identity,
            ledger,
            backends,
            sessions.linker(),
            sessions.leftovers(),
            sessions.pending(),
            sessions.idleTime(),
            sessions.endedRequests(),
            timing,
            own,
            changed);
  }

  /** Starts the recovery of the last gateway's sessions; returns at once. */
  public void recover() {
    recovery.start(sessions);
  }

  public GatewaySessions sessions() {
    return sessions;
  }

  public GatewayRuns runs() {
    return runs;
  }

  /** The nodes that ssh user names mean. */
  public Routes routes() {
    return new SessionRoutes(sessions, sessions.linker());
  }

  /** The sessions for the ssh config file: all that have nodes. */
  public List<PublishedSession> published() {
    var published = new ArrayList<PublishedSession>();
    for (LiveSession session : sessions.all()) {
      int nodes = session.entry().grant().map(gang -> gang.nodes().size()).orElse(0);
      if (nodes > 0) {
        published.add(new PublishedSession(session.name(), nodes));
      }
    }
    return published;
  }

  /** Whether there is one in any state that is not over. */
  public boolean hasSessions() {
    return !sessions.all().isEmpty();
  }

  /** For {@code gateway status}: session, node, link and pid of every agent. */
  public List<Json> agents() {
    var agents = new ArrayList<Json>();
    for (SessionView session : sessions.list()) {
      for (NodeView node : session.nodes()) {
        agents.add(
            Json.object(
                "session", session.name().text(),
                "node", node.info().index(),
                "link", node.link(),
                "pid", node.agentPid(),
                "python", node.python()));
      }
    }
    return agents;
  }

  /** Recovery and observers stop first; then links end; agents, runs and leases continue. */
  @Override
  public void close() {
    try {
      own.close();
    } finally {
      sessions.close();
    }
  }
}
