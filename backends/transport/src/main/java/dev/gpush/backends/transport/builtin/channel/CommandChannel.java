package dev.gpush.backends.transport.builtin.channel;

import java.io.OutputStream;
import net.schmizz.sshj.common.Message;
import net.schmizz.sshj.common.SSHException;
import net.schmizz.sshj.common.SSHPacket;
import net.schmizz.sshj.connection.Connection;
import net.schmizz.sshj.connection.channel.ChannelInputStream;
import net.schmizz.sshj.connection.channel.direct.SessionChannel;
import net.schmizz.sshj.transport.TransportException;

/**
 * A session of sshj whose end disturbs nobody else. Three things of the library would: data that
 * comes after our end has closed its stream ends the whole connection; writers that wait for room
 * ({@link ChannelOutput}); and a close that waits for the other end, which may have gone.
 */
public final class CommandChannel extends SessionChannel {
  private final ChannelWait changes = new ChannelWait();
  private final Intake intake = new Intake();

  public CommandChannel(Connection connection) {
    super(connection);
  }

  OutputStream safeOutput() {
    return new ChannelOutput(getOutputStream(), this::getRemoteWinSize, this::isOver, changes);
  }

  /** No more comes, and nothing more can be written. */
  boolean isOver() {
    return intake.isDropped() || closeEvent.isSet() || closeEvent.inError();
  }

  void awaitEnd() throws InterruptedException {
    changes.await(this::isOver);
  }

  /** Whoever reads or waits is told the end; what still comes is thrown away. */
  public void drop() {
    intake.drop(this::closeInputs);
    changes.changed();
  }

  /** Says the end to the other side, without waiting for its answer. */
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

  /** Not the output: its monitor may be held by a writer. Writes fail without that. */
  @Override
  protected void closeAllStreams() {
    closeInputs();
  }

  private void closeInputs() {
    ((ChannelInputStream) getInputStream()).close();
    ((ChannelInputStream) getErrorStream()).close();
  }
}
