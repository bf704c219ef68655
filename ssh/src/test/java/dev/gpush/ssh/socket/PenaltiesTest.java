package dev.gpush.ssh.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class PenaltiesTest {
  private final Penalties penalties = new Penalties();
  private long now = Long.MAX_VALUE - 10;

  @Test
  void addUpAndRunOff() {
    for (int i = 0; i < 3; i++) {
      penalties.add("user 7", Penalties.FAILED, now);
    }
    assertFalse(penalties.isPenalized("user 7", now));

    penalties.add("user 7", Penalties.FAILED, now);
    assertTrue(penalties.isPenalized("user 7", now));
    assertFalse(penalties.isPenalized("user 8", now));

    now += Penalties.FAILED.toNanos();
    assertFalse(penalties.isPenalized("user 7", now));
  }

  @Test
  void haveAnEndHoweverManyThereAre() {
    for (int i = 0; i < 1_000; i++) {
      penalties.add("user 7", Penalties.TOO_SLOW, now);
    }
    now += Duration.ofMinutes(10).toNanos();

    assertFalse(penalties.isPenalized("user 7", now));
  }

  @Test
  void theSourceOfAConnectionIsTheUserWhoMadeIt() throws IOException {
    Assumptions.assumeTrue(Files.isReadable(Path.of("/proc/net/tcp")), "only on Linux");
    try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        var client = new Socket(server.getInetAddress(), server.getLocalPort())) {
      String source = PeerUsers.of(client.getLocalSocketAddress(), server.getLocalSocketAddress());

      assertEquals("user " + Files.getAttribute(Path.of("/proc/self"), "unix:uid"), source);
    }
  }
}
