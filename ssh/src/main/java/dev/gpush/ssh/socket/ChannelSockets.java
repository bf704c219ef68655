package dev.gpush.ssh.socket;

import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.util.Optional;
import org.apache.sshd.common.session.Session;

/**
 * Sockets of a connection's channels, which the connection's reading thread serves beside the
 * connection itself: a request and its answer then need no other thread, as in sshd.
 */
public interface ChannelSockets {
  /** None where SSHD runs on other sockets than ours, as in tests of parts. */
  static Optional<ChannelSockets> of(Session session) {
    return session.getIoSession() instanceof ChannelSockets sockets
        ? Optional.of(sockets)
        : Optional.empty();
  }

  /** A socket that is served. */
  interface Watched {
    /** Which operations to wait for, as of {@code SelectionKey}; from any thread. */
    void waitFor(int operations);

    /** Ends it; the socket is the caller's to close. */
    void end();
  }

  /** What to do with a socket, on the reading thread. It must not block. */
  @FunctionalInterface
  interface Ready {
    /**
     * Reads or writes what is possible now.
     *
     * @param buffer empty, and only for this call
     */
    void run(ByteBuffer buffer);
  }

  /**
   * Serves a socket that does not block. It is served until it is ended or closed, also beyond the
   * end of the connection: what the client has sent before may still have to be written.
   *
   * @return none when the connection has ended
   */
  Optional<Watched> watch(SelectableChannel socket, Ready ready);
}
