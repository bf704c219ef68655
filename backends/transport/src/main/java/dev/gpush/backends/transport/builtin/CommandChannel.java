package dev.gpush.backends.transport.builtin;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import net.schmizz.sshj.common.Message;
import net.schmizz.sshj.common.SSHException;
import net.schmizz.sshj.common.SSHPacket;
import net.schmizz.sshj.connection.Connection;
import net.schmizz.sshj.connection.channel.ChannelInputStream;
import net.schmizz.sshj.connection.channel.direct.SessionChannel;
import net.schmizz.sshj.transport.TransportException;

/**
 * A command on a session of sshj whose end disturbs no other command of its connection. Two things
 * of the library would. Data that comes after our end has closed its stream ends the whole
 * connection: a channel that was dropped throws it away. A writer that waits for room holds the
 * stream's monitor, which the thread that reads from the network takes to close the stream: ours
 * writes no more than there is room for, and waits here.
 */
final class CommandChannel extends SessionChannel implements Pipe {
  private static final int BROKEN = 255;

  /** As shells say it of a command that a signal has ended. */
  private static final int BY_SIGNAL = 128;

  private final Tasks tasks;
  private final OutputStream input = new Input();
  private final InputStream output = new ToTheEnd(getInputStream());
  private final InputStream errors = new ToTheEnd(getErrorStream());
  private final Object changes = new Object();
  // guarded by changes, for writing
  private volatile boolean isDropped;

  private CommandChannel(Connection connection, Tasks tasks) {
    super(connection);
    this.tasks = tasks;
  }

  static CommandChannel start(Connection connection, String command, Tasks tasks)
      throws IOException {
    var channel = new CommandChannel(connection, tasks);
    boolean isStarted = false;
    try {
      channel.open();
      channel.exec(command);
      isStarted = true;
      return channel;
    } finally {
      if (!isStarted) {
        channel.close();
      }
    }
  }

  @Override
  public OutputStream input() {
    return input;
  }

  @Override
  public InputStream output() {
    return output;
  }

  @Override
  public InputStream errors() {
    return errors;
  }

  /** If the connection breaks, the streams end, with status 255. */
  @Override
  public int await() throws InterruptedException {
    synchronized (changes) {
      while (!isOver()) {
        changes.wait();
      }
    }
    Integer status = getExitStatus();
    if (status != null) {
      return status;
    }
    return getExitSignal() == null ? BROKEN : BY_SIGNAL;
  }

  /**
   * Ends every read, write and wait on it, and throws away what still comes. Another thread tells
   * the server, because sending can block.
   */
  @Override
  public void close() {
    if (!isOver()) {
      // A closed group ends its connections anyway.
      tasks.start("close-channel", this::sayEnd);
    }
    synchronized (changes) {
      isDropped = true;
      closeAllStreams();
      changes.notifyAll();
    }
  }

  private void sayEnd() {
    try {
      if (isOpen()) {
        sendClose();
      }
    } catch (TransportException gone) {
      // Then the end of its connection ends the command.
    }
  }

  /** No more comes, and nothing more can be written. */
  private boolean isOver() {
    return isDropped || closeEvent.isSet() || closeEvent.inError();
  }

  @Override
  protected void receiveInto(ChannelInputStream stream, SSHPacket packet) throws SSHException {
    // Not while the stream is being closed.
    synchronized (changes) {
      if (!isDropped) {
        super.receiveInto(stream, packet);
      }
    }
  }

  @Override
  public void handle(Message message, SSHPacket packet) throws SSHException {
    super.handle(message, packet);
    if (isDropped) {
      // It was dropped before the server had opened it.
      sayEnd();
    }
    tell();
  }

  @Override
  public void notifyError(SSHException error) {
    super.notifyError(error);
    tell();
  }

  private void tell() {
    synchronized (changes) {
      changes.notifyAll();
    }
  }

  /** Not the output: its monitor may be held by a writer. Writes fail without that. */
  @Override
  protected void closeAllStreams() {
    ((ChannelInputStream) getInputStream()).close();
    ((ChannelInputStream) getErrorStream()).close();
  }

  private final class Input extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      int at = 0;
      while (at < length) {
        int part = (int) Math.min(length - at, room());
        getOutputStream().write(bytes, offset + at, part);
        getOutputStream().flush();
        at += part;
      }
    }

    private long room() throws IOException {
      synchronized (changes) {
        try {
          while (!isOver() && getRemoteWinSize() == 0) {
            changes.wait();
          }
        } catch (InterruptedException stop) {
          Thread.currentThread().interrupt();
          throw (IOException) new InterruptedIOException("interrupted").initCause(stop);
        }
      }
      if (isOver()) {
        throw new IOException("the command has ended, or the connection to it");
      }
      return getRemoteWinSize();
    }

    @Override
    public void close() throws IOException {
      getOutputStream().close();
    }
  }

  /** Closing one does nothing: what comes on it still has to go somewhere. */
  private static final class ToTheEnd extends FilterInputStream {
    ToTheEnd(InputStream from) {
      super(from);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      try {
        return length == 0 ? 0 : super.read(into, offset, length);
      } catch (SSHException broken) {
        return -1;
      }
    }

    @Override
    public void close() {}
  }
}
