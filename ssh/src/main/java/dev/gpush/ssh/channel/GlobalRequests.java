package dev.gpush.ssh.channel;

import dev.gpush.core.text.RawText;
import dev.gpush.ssh.connection.ConnectionState;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.connection.Replies;
import org.apache.sshd.common.channel.RequestHandler;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.util.buffer.Buffer;

/** Requests that concern the whole connection: keep-alive, and listening on the node. */
public final class GlobalRequests implements RequestHandler<ConnectionService> {
  private final Connections connections;

  public GlobalRequests(Connections connections) {
    this.connections = connections;
  }

  /** All replies are sent from here, because they must keep their order. */
  @Override
  public Result process(ConnectionService service, String name, boolean wantReply, Buffer request) {
    Session session = service.getSession();
    var connection = ConnectionState.of(session);
    Replies.Slot reply = connection.replies().next(session, wantReply);
    switch (name) {
      case "tcpip-forward" -> listen(service, reply, port(request));
      case "streamlocal-forward@openssh.com" -> listen(service, reply, socket(request));
      case "cancel-tcpip-forward" -> cancel(connection, reply, port(request));
      case "cancel-streamlocal-forward@openssh.com" -> cancel(connection, reply, socket(request));
      // A promise of the client, about what it may do with its key anyway.
      case "no-more-sessions@openssh.com" -> reply.succeed();
      // keepalive@openssh.com is among them: any answer proves that the server works; sshd sends
      // this one.
      default -> reply.fail();
    }
    return Result.Replied;
  }

  private static ReturnPath.Place port(Buffer request) {
    return new ReturnPath.Place.Port(request.getString(), request.getUInt());
  }

  private static ReturnPath.Place socket(Buffer request) {
    return new ReturnPath.Place.Socket(RawText.decode(request.getBytes()));
  }

  private void listen(ConnectionService service, Replies.Slot reply, ReturnPath.Place place) {
    Session session = service.getSession();
    connections.open(session, session, new ReturnPath(service, reply, place));
  }

  private static void cancel(
      ConnectionState connection, Replies.Slot reply, ReturnPath.Place place) {
    if (connection.listeners().cancel(place.name())) {
      reply.succeed();
    } else {
      reply.fail();
    }
  }
}
