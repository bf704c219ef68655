package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The network to real machines swallows everything for a while. A person's terminal, logs,
 * download, forwarded port and notebook stand still, and go on without a missing byte.
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

  /**
   * On a session devbox that is up.
   *
   * @param jupyter a Python on the nodes that has it, if any
   */
  static void losesNothing(World world, Optional<String> jupyter, Act cut, Act heal)
      throws Exception {
    everythingElse(world, cut, heal);
    if (jupyter.isPresent()) {
      try (var notebook = Notebook.open(world, jupyter.get())) {
        aNotebook(notebook, cut, heal);
      }
    }
  }

  /** A cell is running and prints when it happens; the kernel is the same afterwards. */
  static void aNotebook(Notebook notebook, Act cut, Act heal) throws Exception {
    notebook.prints("kept = 41", "");
    String counts = "import time\nfor i in range(100):\n  print(i)\n  time.sleep(0.02)\n";
    String counting = notebook.send(counts);
    cut.now();
    try {
      notebook.send("kept += 1");
      LockSupport.parkNanos(CUTS.getLast().toNanos());
    } finally {
      heal.now();
    }
    assertEquals(
        IntStream.range(0, 100).mapToObj(i -> i + "\n").collect(Collectors.joining()),
        notebook.output(counting));
    notebook.prints("print(kept)", "42\n");
  }

  private static void everythingElse(World world, Act cut, Act heal) throws Exception {
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
