package dev.gpush.ssh.channel;

import dev.gpush.link.LinkStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.channel.AbstractServerChannel;

/**
 * A channel whose bytes are those of a stream of a node's link. SSHD calls it on the connection's
 * thread; a base class, because SSHD extends its channels in this way.
 */
abstract class StreamChannel extends AbstractServerChannel {
  final Inlet inlet = new Inlet(this);
  final Outlet outlet = new Outlet(this);

  StreamChannel() {
    super("", List.of(), null);
  }

  @Override
  protected void doWriteData(byte[] data, int offset, long length) {
    inlet.data(data, offset, Math.toIntExact(length));
  }

  /** A client should send no stderr; if it does, it is dropped and its window returned. */
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

  /**
   * CLOSE from the client, the end of the connection, or our own close after the stream's end. A
   * program with output that nobody reads may never read its input.
   */
  @Override
  protected void preClose() {
    if (outlet.hasUnread()) {
      inlet.abort();
    } else {
      inlet.close();
    }
    super.preClose();
  }

  /** Bytes from the node, which have no reader once the client has closed. */
  final void send(int from, ByteBuffer bytes, LinkStream stream) {
    outlet.data(from, bytes, stream::consumed);
    if (isClosing()) {
      dropOutput();
    }
  }

  /** The reader of the output is gone. */
  final void dropOutput() {
    outlet.drop();
    inlet.abort();
  }
}
