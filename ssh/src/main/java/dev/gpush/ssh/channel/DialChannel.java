package dev.gpush.ssh.channel;

import dev.gpush.core.failure.Message;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.RawText;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.connection.ConnectionLog;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.connection.Route;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.sshd.client.future.OpenFuture;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * A channel of type {@code direct-tcpip} or {@code direct-streamlocal@openssh.com}: a connection
 * that the agent makes from inside the node. The channel opens when the connection is made, or is
 * refused with the reason.
 */
final class DialChannel extends StreamChannel {
  private final Connections connections;
  private final Target target;
  private final AtomicBoolean isOpen = new AtomicBoolean();

  /** Reads the destination from the channel's opening message. */
  @FunctionalInterface
  interface Target {
    Json.Obj read(Buffer opening);

    static Json.Obj tcp(Buffer opening) {
      return Json.object("type", "tcp", "host", opening.getString(), "port", opening.getUInt());
    }

    static Json.Obj unix(Buffer opening) {
      return Json.object("type", "unix", "path", RawText.decode(opening.getBytes()));
    }
  }

  DialChannel(Connections connections, Target target) {
    this.connections = connections;
    this.target = target;
  }

  @Override
  protected OpenFuture doInit(Buffer buffer) {
    var dial = new Dial(target.read(buffer));
    return OpenAnswer.refusalOfOneTooMany(this).orElseGet(() -> open(dial));
  }

  private OpenFuture open(Dial dial) {
    ConnectionLog.begins(this, "kind=forward target=" + dial.place());
    connections.open(getSession(), this, dial);
    return OpenAnswer.pending(this);
  }

  /**
   * Until the connection is made the client cannot close the channel; only its own disconnection
   * does.
   */
  private final class Dial implements Connections.Opening {
    private final Json.Obj request;

    Dial(Json.Obj request) {
      this.request = request;
    }

    @Override
    public void open(Route.Node node, String client) {
      inlet.attach(
          node.link()
              .open(
                  request.with("client", client),
                  stream -> new Connected(stream, "connecting to " + place())));
    }

    String place() {
      return request
          .text("path")
          .orElseGet(
              () -> request.text("host").orElse("") + ":" + request.number("port").orElse(0L));
    }

    @Override
    public void refused(Message text) {
      OpenAnswer.refuse(
          DialChannel.this, SshConstants.SSH_OPEN_ADMINISTRATIVELY_PROHIBITED, text.line());
    }
  }

  private final class Connected implements StreamReceiver {
    private final LinkStream stream;
    private final String what;

    Connected(LinkStream stream, String what) {
      this.stream = stream;
      this.what = what;
    }

    @Override
    public void opened(Json.Obj facts) {
      if (!isClosing()) {
        isOpen.set(true);
        signalChannelOpenSuccess();
      }
    }

    @Override
    public void data(int channel, ByteBuffer bytes) {
      send(channel, bytes, stream);
    }

    @Override
    public void end(int channel) {
      outlet.then(DialChannel.this::sendEof);
    }

    @Override
    public void closed(Json.Obj reason) {
      if (isOpen.get()) {
        outlet.then(() -> close(false));
      } else {
        OpenAnswer.refuse(
            DialChannel.this, code(reason), what + ": " + reason.text("code").orElse("ended"));
      }
    }
  }

  private static int code(Json reason) {
    return switch (reason.text("code").orElse("")) {
      case "limit" -> SshConstants.SSH_OPEN_RESOURCE_SHORTAGE;
      case "denied" -> SshConstants.SSH_OPEN_ADMINISTRATIVELY_PROHIBITED;
      default -> SshConstants.SSH_OPEN_CONNECT_FAILED;
    };
  }
}
