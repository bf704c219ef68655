package dev.gpush.testkit.fake;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A unix socket as a pipe, for a connection to an agent without a relay. */
public record ConnectedPipe(
    SocketChannel channel, InputStream output, OutputStream input, CountDownLatch closed)
    implements Pipe {
  public static ConnectedPipe to(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(socket));
    return new ConnectedPipe(
        channel,
        Channels.newInputStream(channel),
        Channels.newOutputStream(channel),
        new CountDownLatch(1));
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
    channel.close();
    closed.countDown();
  }
}
