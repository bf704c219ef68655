package dev.gpush.backends.hosts.local;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;

/**
 * A connected socket as a pipe: there is no command whose errors or status could come. The channel
 * never blocks, so that {@link #offer} need not wait; who reads or writes the streams waits in a
 * selector.
 */
final class SocketPipe implements Pipe {
  private final SocketChannel channel;
  private final Selector readable;
  private final Selector writable;
  private final InputStream output = new Output();
  private final OutputStream input = new Input();
  private final CountDownLatch closed = new CountDownLatch(1);

  SocketPipe(SocketChannel channel) throws IOException {
    this.channel = channel;
    this.readable = Selector.open();
    this.writable = Selector.open();
    channel.configureBlocking(false);
    channel.register(readable, SelectionKey.OP_READ);
    channel.register(writable, SelectionKey.OP_WRITE);
  }

  @Override
  public OutputStream input() {
    return input;
  }

  /** The kernel takes a few bytes whole or not at all. */
  @Override
  public boolean offer(ByteBuffer bytes) throws IOException {
    int wanted = bytes.remaining();
    int written = channel.write(bytes);
    if (written > 0 && written < wanted) {
      throw new IOException("only " + written + " of " + wanted + " bytes were taken");
    }
    return written == wanted;
  }

  @Override
  public boolean isHere() {
    return true;
  }

  @Override
  public InputStream output() {
    return output;
  }

  @Override
  public InputStream errors() {
    return InputStream.nullInputStream();
  }

  @Override
  public int await() throws InterruptedException {
    closed.await();
    return 0;
  }

  @Override
  public void close() throws IOException {
    try (readable;
        writable) {
      channel.close();
    } finally {
      closed.countDown();
    }
  }

  /** Until it is ready; a pipe that was closed meanwhile, or whose thread is to stop, is over. */
  private void await(Selector ready) throws IOException {
    try {
      ready.select();
      ready.selectedKeys().clear();
    } catch (ClosedSelectorException closed) {
      throw new AsynchronousCloseException();
    }
    if (Thread.currentThread().isInterrupted()) {
      close();
      throw new ClosedByInterruptException();
    }
    if (!channel.isOpen()) {
      throw new AsynchronousCloseException();
    }
  }

  private final class Output extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(target, from, length);
      int count = channel.read(bytes);
      while (count == 0 && length > 0) {
        await(readable);
        count = channel.read(bytes);
      }
      return count;
    }
  }

  private final class Input extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] source, int from, int length) throws IOException {
      ByteBuffer bytes = ByteBuffer.wrap(source, from, length);
      channel.write(bytes);
      while (bytes.hasRemaining()) {
        await(writable);
        channel.write(bytes);
      }
    }

    @Override
    public void close() throws IOException {
      SocketPipe.this.close();
    }
  }
}
