package dev.gpush.ssh.route;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.Message;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import java.util.function.Function;
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

  /** A channel's request, and its answers. */
  public interface Asker {
    /** The OPEN of the stream, now that the node is known. */
    Json.Obj request(Route.Node node);

    /** Makes the receiver; called on the thread that opens the stream. */
    StreamReceiver receiver(LinkStream stream);

    /** Whether the client has disconnected meanwhile; then nothing is opened. */
    default boolean isGone() {
      return false;
    }

    /** There is no node, or its link takes no stream. */
    void refused(Message text);
  }

  public void open(Session session, Asker asker) {
    String user = String.valueOf(session.getUsername());
    String client = ClientName.of(String.valueOf(session.getClientVersion()));
    if (!tasks.start("open", () -> open(user, client, asker))) {
      asker.refused(stopping());
    }
  }

  private void open(String user, String client, Asker asker) {
    try {
      switch (routes.route(user)) {
        case Route.Node _ when asker.isGone() -> {}
        case Route.Node node -> {
          Function<LinkStream, StreamReceiver> receiver = asker::receiver;
          node.link().open(asker.request(node).with("client", client), receiver);
        }
        case Route.Refused(var failure) -> asker.refused(SshMessages.of(user, failure));
      }
    } catch (GpushException failed) {
      asker.refused(SshMessages.of(user, failed.failure()));
    } catch (RuntimeException bug) {
      asker.refused(
          Message.of(
              "this is a bug in gpush, not your mistake",
              "the gateway's log has the details",
              "gpush gateway logs"));
      throw bug;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      asker.refused(stopping());
    }
  }

  private static Message stopping() {
    return Message.of(
        "gpush is stopping", "the gateway was asked to stop", "the same command again");
  }
}
