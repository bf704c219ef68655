package dev.gpush.backends.transport.builtin.channel;

import java.io.OutputStream;
import net.schmizz.sshj.common.Message;
import net.schmizz.sshj.common.SSHException;
import net.schmizz.sshj.common.SSHPacket;
import net.schmizz.sshj.connection.Connection;
import net.schmizz.sshj.connection.channel.ChannelInputStream;
import net.schmizz.sshj.connection.channel.direct.DirectConnection;
import net.schmizz.sshj.transport.TransportException;

/** A way through a host to another one; careful in the ways of {@link CommandChannel}. */
public final class TunnelChannel extends DirectConnection {
  private final ChannelWait changes = new ChannelWait();
  private final Intake intake = new Intake();

  public TunnelChannel(Connection connection, String host, int port) {
    super(connection, host, port);
  }

  @Override
  public OutputStream getOutputStream() {
    return new ChannelOutput(
        super.getOutputStream(), this::getRemoteWinSize, this::isOver, changes);
  }

  private boolean isOver() {
    return intake.isDropped() || closeEvent.isSet() || closeEvent.inError();
  }

  public void drop() {
    intake.drop(this::closeAllStreams);
    changes.changed();
  }

  public void sayEnd() throws TransportException {
    if (isOpen()) {
      sendClose();
    }
  }

  @Override
  protected void receiveInto(ChannelInputStream stream, SSHPacket packet) throws SSHException {
    intake.take(() -> super.receiveInto(stream, packet));
  }

  @Override
  public void handle(Message message, SSHPacket packet) throws SSHException {
    super.handle(message, packet);
    changes.changed();
  }

  @Override
  public void notifyError(SSHException error) {
    super.notifyError(error);
    changes.changed();
  }

  @Override
  protected void closeAllStreams() {
    ((ChannelInputStream) getInputStream()).close();
  }
}
