package dev.gpush.backends.hosts.local;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real sockets: what waits, what does not, and how each ends. */
final class SocketPipeTest {
  /** More than the kernel takes for a peer that does not read. */
  private static final int MUCH = 4 << 20;

  private final Tasks tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
  @TempDir private Path folder;
  private SocketPipe pipe;
  private SocketChannel peer;

  @BeforeEach
  void connects() throws IOException {
    var address = UnixDomainSocketAddress.of(folder.resolve("s"));
    try (var listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      listening.bind(address);
      SocketChannel channel = SocketChannel.open(address);
      peer = listening.accept();
      pipe = new SocketPipe(channel);
    }
  }

  @AfterEach
  void closes() throws IOException {
    pipe.close();
    peer.close();
    tasks.close();
  }

  @Test
  void bytesPassWholeBothWays() throws Exception {
    byte[] bytes = new byte[MUCH];
    new Random(1).nextBytes(bytes);
    Task<Boolean, IOException> up = tasks.fork("up", () -> written(bytes));
    assertArrayEquals(bytes, Channels.newInputStream(peer).readNBytes(MUCH));
    assertTrue(up.get());

    Task<byte[], IOException> down = tasks.fork("down", () -> pipe.output().readAllBytes());
    Channels.newOutputStream(peer).write(bytes);
    peer.close();
    assertArrayEquals(bytes, down.get());
  }

  private boolean written(byte[] bytes) throws IOException {
    pipe.input().write(bytes);
    return true;
  }

  @Test
  void anOfferIsTakenWholeOrNotAtAll() throws IOException {
    byte[] little = new byte[4096];
    int taken = 0;
    while (pipe.offer(ByteBuffer.wrap(little))) {
      taken += little.length;
    }
    assertTrue(taken > 0 && taken < MUCH, () -> "taken without a reader");
    assertFalse(pipe.offer(ByteBuffer.wrap(little)));

    Channels.newInputStream(peer).readNBytes(taken);
    assertTrue(pipe.offer(ByteBuffer.wrap(little)));
  }

  /** Both ways of being waited for; each time at another moment of the waiting. */
  @RepeatedTest(50)
  void whoWaitsIsToldThatThePipeWasClosed() throws Exception {
    var begun = new CountDownLatch(2);
    Task<Integer, IOException> reads =
        tasks.forkOnThread(
            "read",
            () -> {
              begun.countDown();
              return pipe.output().read();
            });
    Task<Boolean, IOException> writes =
        tasks.forkOnThread(
            "write",
            () -> {
              begun.countDown();
              return written(new byte[MUCH]);
            });
    begun.await();
    pipe.close();

    assertThrows(IOException.class, reads::get);
    assertThrows(IOException.class, writes::get);
    assertEquals(0, pipe.await());
    assertThrows(IOException.class, () -> pipe.offer(ByteBuffer.allocate(1)));
  }

  @Test
  void whoIsInterruptedStopsWaiting() {
    Task<Integer, IOException> reads = tasks.forkOnThread("read", () -> pipe.output().read());
    tasks.close();
    assertThrows(IOException.class, reads::get);
  }
}
