package dev.gpush.ssh.channel;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.connection.ConnectionLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.sshd.client.channel.AbstractClientChannel;
import org.apache.sshd.client.future.DefaultOpenFuture;
import org.apache.sshd.client.future.OpenFuture;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * A connection that came to a port or socket on the node and goes back to the client ({@code -R},
 * or its ssh agent): a channel that the gateway opens. Bytes from the node wait until the client
 * has answered.
 */
public final class ReturnChannel extends AbstractClientChannel {
  private final LinkStream stream;
  private final Consumer<Buffer> details;
  private final Inlet inlet = new Inlet(this);
  private final Outlet outlet = new Outlet(this);

  /**
   * @param details writes the fields of this type's opening message
   */
  public ReturnChannel(String type, LinkStream stream, Consumer<Buffer> details) {
    super(type);
    this.stream = stream;
    this.details = details;
    outlet.hold();
  }

  /** Asks the client to take the connection; empty when there is no client or no more room. */
  public static Optional<StreamReceiver> open(ConnectionService service, ReturnChannel channel) {
    if (OpenAnswer.isFull(service.getSession())) {
      return Optional.empty();
    }
    try {
      service.registerChannel(channel);
      channel.open();
      return Optional.of(channel.new Accepted());
    } catch (IOException | IllegalStateException gone) {
      return Optional.empty();
    }
  }

  @Override
  public synchronized OpenFuture open() throws IOException {
    openFuture = new DefaultOpenFuture(getChannelId(), futureLock);
    Buffer packet = getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_OPEN);
    packet.putString(getChannelType());
    packet.putUInt(getChannelId());
    packet.putUInt(getLocalWindow().getSize());
    packet.putUInt(getLocalWindow().getPacketSize());
    details.accept(packet);
    writePacket(packet);
    return openFuture;
  }

  /** The client has taken it. */
  @Override
  protected void doOpen() {
    ConnectionLog.begins(this, "kind=return type=" + getChannelType());
    inlet.attach(stream);
    outlet.release();
  }

  @Override
  public void handleOpenFailure(Buffer buffer) {
    stream.close(Json.object("code", "refused"));
    super.handleOpenFailure(buffer);
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
    inlet.attach(stream);
    if (outlet.hasUnread()) {
      inlet.abort();
    } else {
      inlet.close();
    }
    super.preClose();
  }

  private final class Accepted implements StreamReceiver {
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
      outlet.then(ReturnChannel.this::sendEof);
    }

    @Override
    public void closed(Json.Obj reason) {
      outlet.then(() -> close(false));
    }
  }
}
