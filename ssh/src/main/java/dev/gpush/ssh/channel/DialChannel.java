package dev.gpush.ssh.channel;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.text.RawText;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.audit.AuditTrail;
import dev.gpush.ssh.audit.AuditedChannel;
import dev.gpush.ssh.connection.ConnectionState;
import dev.gpush.ssh.connection.Forwarding;
import dev.gpush.ssh.direct.DirectNode;
import dev.gpush.ssh.direct.DirectSocket;
import dev.gpush.ssh.direct.LoopbackDial;
import dev.gpush.ssh.flow.Inlet;
import dev.gpush.ssh.flow.Outlet;
import dev.gpush.ssh.route.Connections;
import dev.gpush.ssh.route.RefusalText;
import dev.gpush.ssh.route.Route;
import dev.gpush.ssh.socket.ChannelSockets;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.sshd.client.future.OpenFuture;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.channel.AbstractServerChannel;

/**
 * A channel of type {@code direct-tcpip} or {@code direct-streamlocal@openssh.com}: a connection
 * that the agent makes from inside the node. The channel opens when the connection is made, or is
 * refused with the reason.
 */
final class DialChannel extends AbstractServerChannel implements AuditedChannel {
  /** A name or path in the audit. */
  private static final int LONGEST = 300;

  private final Connections connections;
  private final Target target;
  private final Inlet inlet = new Inlet(this);
  private final Outlet outlet = new Outlet(this);
  private final AtomicBoolean isOpen = new AtomicBoolean();
  private volatile Json.Obj purpose = Json.object("kind", "forward");

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
    super("", List.of(), null);
    this.connections = connections;
    this.target = target;
  }

  @Override
  protected OpenFuture doInit(Buffer buffer) {
    var dial = new Dial(target.read(buffer));
    Optional<String> forbidden =
        dial.refusalBy(ConnectionState.of(getSession()).permissions().forwarding());
    if (forbidden.isPresent()) {
      return OpenAnswer.refuse(
          this, SshConstants.SSH_OPEN_ADMINISTRATIVELY_PROHIBITED, forbidden.orElseThrow());
    }
    return OpenAnswer.refusalOfOneTooMany(this).orElseGet(() -> open(dial));
  }

  private OpenFuture open(Dial dial) {
    purpose = Json.object("kind", "forward", "target", CleanText.line(dial.place(), LONGEST));
    if (!dial.isMadeHere()) {
      connections.open(getSession(), dial);
    }
    return OpenAnswer.pending(this);
  }

  @Override
  public Json.Obj purpose() {
    return purpose;
  }

  @Override
  public long bytesUp() {
    return inlet.received();
  }

  @Override
  public long bytesDown() {
    return outlet.sent();
  }

  @Override
  protected void doWriteData(byte[] data, int offset, long length) {
    inlet.data(data, offset, Math.toIntExact(length));
  }

  @Override
  protected void doWriteExtendedData(byte[] data, int offset, long length) throws IOException {
    getLocalWindow().release(length);
  }

  @Override
  public void handleEof() throws IOException {
    super.handleEof();
    inlet.end();
  }

  @Override
  public void handleWindowAdjust(Buffer buffer) throws IOException {
    super.handleWindowAdjust(buffer);
    outlet.write();
  }

  @Override
  protected void preClose() {
    if (outlet.hasUnread()) {
      inlet.abort();
    } else {
      inlet.close();
    }
    super.preClose();
  }

  /**
   * Until the connection is made the client cannot close the channel; only its own disconnection
   * does.
   */
  private final class Dial implements Connections.Asker {
    private final Json.Obj request;

    Dial(Json.Obj request) {
      this.request = request;
    }

    @Override
    public Json.Obj request(Route.Node node) {
      DirectNode.prepare(getSession(), node.link(), connections.clock());
      return request;
    }

    /**
     * Connects from here to a server of this machine. Whatever prevents it is left to the agent,
     * which tries again and says why.
     */
    boolean isMadeHere() {
      Optional<DirectNode> node = DirectNode.of(getSession());
      Optional<LoopbackDial> made = node.flatMap(_ -> LoopbackDial.to(request));
      Optional<ChannelSockets> sockets = ChannelSockets.of(getSession());
      if (made.isEmpty() || sockets.isEmpty()) {
        return false;
      }
      made.get()
          .start(
              sockets.get(),
              socket -> connected(socket, node.orElseThrow(), sockets.get()),
              () -> connections.open(getSession(), this));
      return true;
    }

    @Override
    public StreamReceiver receiver(LinkStream stream) {
      return new Connected(stream, what());
    }

    private String what() {
      return "connecting to " + place();
    }

    Optional<String> refusalBy(Forwarding limits) {
      Optional<String> path = request.text("path");
      return path.isPresent()
          ? limits.refusalToConnectToSocket(path.orElseThrow())
          : limits.refusalToConnect(
              request.text("host").orElse(""), request.number("port").orElse(0L));
    }

    String place() {
      return request
          .text("path")
          .orElseGet(
              () -> request.text("host").orElse("") + ":" + request.number("port").orElse(0L));
    }

    @Override
    public boolean isGone() {
      return isClosing();
    }

    @Override
    public void refused(RefusalText text) {
      OpenAnswer.refuse(
          DialChannel.this, SshConstants.SSH_OPEN_ADMINISTRATIVELY_PROHIBITED, text.line());
    }
  }

  private void connected(SocketChannel socket, DirectNode node, ChannelSockets sockets) {
    var direct = new DirectSocket(socket, outlet, node.passedBytes());
    if (isClosing()) {
      direct.close();
      return;
    }
    isOpen.set(true);
    signalChannelOpenSuccess();
    AuditTrail.begins(this);
    inlet.attach(direct);
    direct.start(
        sockets,
        new DirectSocket.Listener() {
          @Override
          public void hasRead() {
            outlet.then(DialChannel.this::sendEof);
          }

          @Override
          public void isOver() {
            outlet.then(() -> close(false));
          }
        });
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
        AuditTrail.begins(DialChannel.this);
      }
      inlet.attach(stream);
    }

    @Override
    public void data(int channel, ByteBuffer bytes) {
      outlet.data(channel, bytes, stream::consumed);
      if (isClosing()) {
        outlet.drop();
        inlet.abort();
      }
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
