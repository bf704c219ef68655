package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The network to real machines swallows everything for a while. A person's terminal, logs, download
 * and forwarded port stand still, and go on without a missing byte.
 */
final class BrokenWay {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** Longer than a link waits for a sign of life, so that its pipe is replaced, and shorter. */
  private static final List<Duration> CUTS =
      LONG
          ? List.of(Duration.ofSeconds(60), Duration.ofSeconds(10), Duration.ofSeconds(1))
          : List.of(Duration.ofSeconds(4));

  private static final int MEGABYTES = LONG ? 200 : 32;

  /** The waits, short; the first is for ssh itself. */
  static final Map<String, String> IMPATIENT =
      LONG ? Map.of() : Map.of("GPUSH_SSH_SILENCE", "3s", "GPUSH_LINK_CONTACT", "2s");

  private BrokenWay() {}

  /** What a rig does. */
  @FunctionalInterface
  interface Act {
    void now() throws Exception;
  }

  /** On a session devbox that is up. */
  static void losesNothing(World world, Act cut, Act heal) throws Exception {
    world.file("ws.py", WebSocket.SERVER);
    world.gpush("sync").succeeded();
    Traffic traffic = Traffic.begin(world, MEGABYTES);
    try (var socket = WebSocket.through(world, Traffic.folder(world))) {
      socket.echoes("before");
      for (Duration silence : CUTS) {
        cut.now();
        try {
          socket.send("while cut");
          LockSupport.parkNanos(silence.toNanos());
        } finally {
          heal.now();
        }
        assertEquals("while cut", socket.receive());
        socket.echoes("after");
      }
    }
    traffic.endsWhole();
  }
}
