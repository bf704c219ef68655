package dev.gpush.ssh.route;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.Message;
import dev.gpush.core.task.Tasks;
import org.apache.sshd.common.session.Session;

/**
 * Opens streams on the node of a client's user name; on their own threads, because it may take a
 * while.
 */
public final class Connections {
  private final Tasks tasks;
  private final Routes routes;

  public Connections(Tasks tasks, Routes routes) {
    this.tasks = tasks;
    this.routes = routes;
  }

  /** What a channel opens on its node. */
  public interface Opening {
    /**
     * Opens streams of the node's link, on a thread of its own; nothing when the client has
     * disconnected meanwhile.
     *
     * @param client the name of its program, for the node
     */
    void open(Route.Node node, String client) throws InterruptedException;

    /** There is no node, or its link takes no stream. */
    void refused(Message text);
  }

  public void open(Session session, Opening opening) {
    String user = String.valueOf(session.getUsername());
    String client = ClientName.of(String.valueOf(session.getClientVersion()));
    if (!tasks.start("open", () -> open(user, client, opening))) {
      opening.refused(stopping());
    }
  }

  private void open(String user, String client, Opening opening) {
    try {
      switch (routes.route(user)) {
        case Route.Node node -> opening.open(node, client);
        case Route.Refused(var failure) -> opening.refused(SshMessages.of(user, failure));
      }
    } catch (GpushException failed) {
      opening.refused(SshMessages.of(user, failed.failure()));
    } catch (RuntimeException bug) {
      opening.refused(
          Message.of(
              "this is a bug in gpush, not your mistake",
              "the gateway's log has the details",
              "gpush gateway logs"));
      throw bug;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      opening.refused(stopping());
    }
  }

  private static Message stopping() {
    return Message.of(
        "gpush is stopping", "the gateway was asked to stop", "the same command again");
  }
}
