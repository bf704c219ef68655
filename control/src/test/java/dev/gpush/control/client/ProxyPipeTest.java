package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.task.Tasks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProxyPipeTest {
  @TempDir private Path folder;

  @Test
  void copiesBothWaysUntilTheServerCloses() throws Exception {
    byte[] bytes = new byte[1 << 20];
    new Random(1).nextBytes(bytes);
    Path path = folder.resolve("s");
    try (Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());
        var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(path));
      var echo =
          tasks.fork(
              "echo",
              () -> {
                try (var connection = server.accept()) {
                  byte[] all = Channels.newInputStream(connection).readAllBytes();
                  Channels.newOutputStream(connection).write(all);
                  return all.length;
                }
              });
      var out = new ByteArrayOutputStream();

      int status = ProxyPipe.run(path, new ByteArrayInputStream(bytes), out);

      assertEquals(0, status);
      assertEquals(bytes.length, echo.get());
      assertArrayEquals(bytes, out.toByteArray());
    }
  }

  /** For the ssh of Windows, which comes through WSL. */
  @Test
  void aNumberIsAPort() throws Exception {
    try (Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());
        var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var greeting =
          tasks.fork(
              "greet",
              () -> {
                try (var connection = server.accept()) {
                  connection.getOutputStream().write('x');
                  return connection.getInputStream().read();
                }
              });
      var out = new ByteArrayOutputStream();

      int status =
          ProxyPipe.run(
              Path.of("" + server.getLocalPort()), new ByteArrayInputStream(new byte[] {5}), out);

      assertEquals(0, status);
      assertEquals(5, greeting.get());
      assertEquals("x", out.toString(StandardCharsets.UTF_8));
    }
  }

  @Test
  void saysThatNoneAnswersWithoutReading() {
    var input = new ByteArrayInputStream(new byte[3]);

    int status = ProxyPipe.run(folder.resolve("none"), input, new ByteArrayOutputStream());

    assertEquals(ProxyPipe.NO_GATEWAY, status);
    assertEquals(3, input.available());
  }
}
