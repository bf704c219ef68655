package dev.gpush.backends.transport.builtin.channel;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import net.schmizz.sshj.common.SSHException;

/** A command on a channel. A way that breaks is the end of the streams, and status 255. */
public final class CommandPipe implements Pipe {
  private static final int BROKEN = 255;

  /** As shells say it of a command that a signal has ended. */
  private static final int BY_SIGNAL = 128;

  private final CommandChannel channel;
  private final Tasks tasks;
  private final OutputStream input;
  private final InputStream output;
  private final InputStream errors;

  public CommandPipe(CommandChannel channel, Tasks tasks) {
    this.channel = channel;
    this.tasks = tasks;
    this.input = channel.safeOutput();
    this.output = new ToTheEnd(channel.getInputStream());
    this.errors = new ToTheEnd(channel.getErrorStream());
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

  @Override
  public int await() throws InterruptedException {
    channel.awaitEnd();
    Integer status = channel.getExitStatus();
    if (status != null) {
      return status;
    }
    return channel.getExitSignal() == null ? BROKEN : BY_SIGNAL;
  }

  /** The other end is told by a thread of its own: the network may take nothing. */
  @Override
  public void close() {
    if (!channel.isOver()) {
      // A closed transport ends all its connections anyway.
      tasks.start("close-channel", this::sayEnd);
    }
    channel.drop();
  }

  private void sayEnd() {
    try {
      channel.sayEnd();
    } catch (SSHException gone) {
      // Then the command is told by its connection's end.
    }
  }

  /** Closing one does nothing: what comes on it still has to go somewhere. */
  private static final class ToTheEnd extends InputStream {
    private final InputStream from;

    ToTheEnd(InputStream from) {
      this.from = from;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      try {
        return from.read(into, offset, length);
      } catch (InterruptedIOException stop) {
        throw stop;
      } catch (SSHException broken) {
        return -1;
      }
    }

    @Override
    public int available() throws IOException {
      return from.available();
    }
  }
}
