package dev.gpush.ssh.channel;

import dev.gpush.core.failure.Message;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.RawText;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.connection.ConnectionState;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.connection.Listeners;
import dev.gpush.ssh.connection.Replies;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.connection.SshMessages;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.session.helpers.AbstractConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * {@code ssh -R}: a port or socket on the node whose connections go back to the client. Asks the
 * agent to listen, answers the client, and opens a channel for each connection.
 *
 * @param wanted the address that the client asked for, which a channel's opening repeats
 */
record ReturnPath(ConnectionService service, Replies.Slot reply, Place wanted)
    implements Connections.Opening {

  /** Where to listen. */
  sealed interface Place {
    record Port(String host, long number) implements Place {}

    record Socket(String path) implements Place {}

    /** The name by which it is cancelled. */
    default String name() {
      return switch (this) {
        case Port(var host, var number) -> host + ":" + number;
        case Socket(var path) -> path;
      };
    }
  }

  /**
   * Ports are bound to the node's loopback whatever the client asks for, as with GatewayPorts no.
   */
  @Override
  public void open(Route.Node node, String client) {
    var request =
        switch (wanted) {
          case Place.Port(_, var number) ->
              Json.object("type", "listen-tcp", "host", "127.0.0.1", "port", number);
          case Place.Socket(var path) -> Json.object("type", "listen-unix", "path", path);
        };
    node.link().open(request.with("client", client), this::listening);
  }

  private Listening listening(LinkStream stream) {
    if (!listeners().asks(stream)) {
      stream.close(Json.object());
    }
    return new Listening(stream);
  }

  @Override
  public void refused(Message text) {
    reply.fail();
  }

  private Listeners listeners() {
    return ConnectionState.of(service.getSession()).listeners();
  }

  private final class Listening implements StreamReceiver {
    private final LinkStream listener;
    private Place bound = wanted;

    Listening(LinkStream listener) {
      this.listener = listener;
    }

    @Override
    public void opened(Json.Obj facts) {
      int port = facts.integer("port").orElse(0);
      bound = bound(port);
      if (!listeners().add(bound.name(), listener)) {
        listener.close(Json.object());
        reply.fail();
      } else if (wanted instanceof Place.Port(_, var number) && number == 0) {
        reply.succeed(port);
      } else {
        reply.succeed();
      }
    }

    private Place bound(int port) {
      return switch (wanted) {
        case Place.Port(var host, _) -> new Place.Port(host, port);
        case Place.Socket socket -> socket;
      };
    }

    @Override
    public void data(int channel, ByteBuffer bytes) {
      listener.consumed(bytes.remaining());
    }

    @Override
    public Optional<StreamReceiver> accepted(LinkStream stream, Json.Obj request) {
      String type =
          switch (bound) {
            case Place.Port _ -> "forwarded-tcpip";
            case Place.Socket _ -> "forwarded-streamlocal@openssh.com";
          };
      return ReturnChannel.open(service, new ReturnChannel(type, stream, details(request)));
    }

    private Consumer<Buffer> details(Json request) {
      return switch (bound) {
        case Place.Port(var host, var number) ->
            packet -> {
              packet.putString(host);
              packet.putUInt(number);
              packet.putString(request.text("host").orElse("127.0.0.1"));
              packet.putUInt(request.number("port").orElse(0L));
            };
        case Place.Socket(var path) ->
            packet -> {
              packet.putBytes(RawText.encode(path));
              packet.putString("");
            };
      };
    }

    @Override
    public void closed(Json.Obj reason) {
      boolean isLost = listeners().forget(bound.name(), listener);
      reply.fail();
      if (isLost) {
        disconnectAfter(programs().iterator(), reason);
      }
    }

    private List<SessionChannel> programs() {
      return service.getSession().getService(AbstractConnectionService.class).getChannels().stream()
          .flatMap(
              channel -> channel instanceof SessionChannel own ? Stream.of(own) : Stream.empty())
          .toList();
    }

    /**
     * The connection's programs have ended for the same reason, and tell their users first. Those
     * of a node that goes on are not ended for it.
     */
    private void disconnectAfter(Iterator<SessionChannel> programs, Json.Obj reason) {
      if (programs.hasNext()) {
        programs.next().addCloseFutureListener(_ -> disconnectAfter(programs, reason));
      } else {
        disconnect(reason);
      }
    }

    /**
     * The protocol has no word for a listener that ended; a client that is alone connects again.
     */
    private void disconnect(Json.Obj reason) {
      String user = String.valueOf(service.getSession().getUsername());
      String listening = "listening on " + bound.name() + " (-R)";
      Message why = SshMessages.ofCode(user, listening, reason);
      try {
        service
            .getSession()
            .disconnect(
                SshConstants.SSH2_DISCONNECT_BY_APPLICATION,
                new Message(listening + " has ended", why.because(), why.remedy()).line());
      } catch (IOException gone) {
        // The client has ended already.
      }
    }
  }
}
