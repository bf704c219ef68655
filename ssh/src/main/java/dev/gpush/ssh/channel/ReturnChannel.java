package dev.gpush.ssh.channel;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.connection.ConnectionLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * A connection that came to a port or socket on the node and goes back to the client ({@code -R},
 * or its ssh agent): a channel that the gateway opens. Bytes from the node wait until the client
 * has answered.
 */
final class ReturnChannel extends StreamChannel {
  private final String type;
  private final LinkStream stream;
  private final Consumer<Buffer> details;

  /**
   * @param details writes the fields of this type's opening message
   */
  ReturnChannel(String type, LinkStream stream, Consumer<Buffer> details) {
    this.type = type;
    this.stream = stream;
    this.details = details;
    outlet.hold();
  }

  /** Asks the client to take the connection; empty when there is no client or no more room. */
  static Optional<StreamReceiver> open(ConnectionService service, ReturnChannel channel) {
    if (OpenAnswer.isFull(service.getSession())) {
      return Optional.empty();
    }
    try {
      service.registerChannel(channel);
      channel.ask();
      return Optional.of(channel.new Accepted());
    } catch (IOException | IllegalStateException gone) {
      return Optional.empty();
    }
  }

  private void ask() throws IOException {
    Buffer packet = getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_OPEN);
    packet.putString(type);
    packet.putUInt(getChannelId());
    packet.putUInt(getLocalWindow().getSize());
    packet.putUInt(getLocalWindow().getPacketSize());
    details.accept(packet);
    writePacket(packet);
  }

  /** The client has taken it. */
  @Override
  public void handleOpenSuccess(long recipient, long window, long packetSize, Buffer rest) {
    setRecipient(recipient);
    getRemoteWindow().init(window, packetSize, getSession().getFactoryManager());
    ConnectionLog.begins(this, "kind=return type=" + type);
    inlet.attach(stream);
    outlet.release();
  }

  @Override
  public void handleOpenFailure(Buffer buffer) {
    stream.close(Json.object("code", "refused"));
    close(true);
  }

  @Override
  protected void preClose() {
    inlet.attach(stream);
    super.preClose();
  }

  private final class Accepted implements StreamReceiver {
    @Override
    public void data(int channel, ByteBuffer bytes) {
      send(channel, bytes, stream);
    }

    @Override
    public void end(int channel) {
      outlet.then(ReturnChannel.this::sendEof);
    }

    @Override
    public void closed(Json.Obj reason) {
      outlet.then(() -> close(false));
    }
  }
}
