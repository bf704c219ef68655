package dev.gpush.backends.local;

import dev.gpush.core.backend.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CountDownLatch;

/** A connected socket as a pipe: there is no command whose errors or status could come. */
final class SocketPipe implements Pipe {
  private final SocketChannel channel;
  private final InputStream output;
  private final OutputStream input;
  private final CountDownLatch closed = new CountDownLatch(1);

  SocketPipe(SocketChannel channel) {
    this.channel = channel;
    this.output = Channels.newInputStream(channel);
    this.input = Channels.newOutputStream(channel);
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
    return InputStream.nullInputStream();
  }

  @Override
  public int await() throws InterruptedException {
    closed.await();
    return 0;
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      closed.countDown();
    }
  }
}
