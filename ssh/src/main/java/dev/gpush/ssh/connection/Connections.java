package dev.gpush.ssh.connection;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.Message;
import dev.gpush.core.task.Tasks;
import org.apache.sshd.common.Closeable;
import org.apache.sshd.common.future.CloseFuture;
import org.apache.sshd.common.future.SshFutureListener;
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
     * Opens streams of the node's link, on a thread of its own.
     *
     * @param client the name of its program, for the node
     */
    void open(Route.Node node, String client) throws InterruptedException;

    /** There is no node, or its link takes no stream. */
    void refused(Message text);
  }

  /**
   * Finds the node of the session's user name.
   *
   * @param client what is opened for it: when it is closed, nothing waits for the node any longer,
   *     and neither method of the opening is called
   */
  public void open(Session session, Closeable client, Opening opening) {
    if (!tasks.start("open", () -> new Search(session, client, opening).run())) {
      opening.refused(stopping());
    }
  }

  /** On its own thread. */
  private final class Search {
    private final String user;
    private final String program;
    private final Closeable client;
    private final Opening opening;

    Search(Session session, Closeable client, Opening opening) {
      this.user = String.valueOf(session.getUsername());
      this.program = ClientName.of(String.valueOf(session.getClientVersion()));
      this.client = client;
      this.opening = opening;
    }

    void run() {
      try {
        Route found = route();
        if (!client.isClosing()) {
          switch (found) {
            case Route.Node node -> opening.open(node, program);
            case Route.Refused(var failure) -> opening.refused(SshMessages.of(user, failure));
          }
        }
      } catch (GpushException failed) {
        refuse(SshMessages.of(user, failed.failure()));
      } catch (RuntimeException bug) {
        refuse(
            Message.of(
                "this is a bug in gpush, not your mistake",
                "the gateway's log has the details",
                "gpush gateway logs"));
        throw bug;
      } catch (InterruptedException stop) {
        refuse(stopping());
        Thread.currentThread().interrupt();
      }
    }

    /** Waits for the session's turn, for example, but not for longer than its client does. */
    private Route route() throws InterruptedException {
      Thread waiting = Thread.currentThread();
      SshFutureListener<CloseFuture> gone = _ -> waiting.interrupt();
      client.addCloseFutureListener(gone);
      try {
        return routes.route(user);
      } finally {
        client.removeCloseFutureListener(gone);
      }
    }

    private void refuse(Message text) {
      if (!client.isClosing()) {
        opening.refused(text);
      }
    }
  }

  private static Message stopping() {
    return Message.of(
        "gpush is stopping", "the gateway was asked to stop", "the same command again");
  }
}
