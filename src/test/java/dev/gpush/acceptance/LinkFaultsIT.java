package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The pipe between gateway and node stands still or breaks, and a real OpenSSH client does not
 * notice. The pipes are the relays, children of the gateway. {@code -Dgpush.long=true} (the profile
 * {@code long}) takes the sizes of the issue.
 */
@Timeout(1800)
@Execution(ExecutionMode.CONCURRENT)
@Tag("link")
final class LinkFaultsIT {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** Longer than the contact limit, so that the pipe is replaced, and then shorter. */
  private static final List<Duration> FREEZES =
      LONG
          ? List.of(Duration.ofSeconds(60), Duration.ofSeconds(10))
          : List.of(Duration.ofSeconds(5), Duration.ofSeconds(1));

  private static final Map<String, String> RELAYS =
      LONG ? Map.of("GPUSH_RELAY", "1") : Map.of("GPUSH_RELAY", "1", "GPUSH_LINK_CONTACT", "2s");

  private static final int MEGABYTES = LONG ? 200 : 32;

  @Test
  void clientsStandStillWhileThePipeDoesAndNoticeNothing() throws Exception {
    try (World world = World.asShipped(RELAYS)) {
      world.file("ws.py", WebSocket.SERVER);
      world.gpush("up").succeeded();
      Traffic traffic = Traffic.begin(world, MEGABYTES);
      try (var socket = WebSocket.through(world, Traffic.folder(world))) {
        socket.echoes("before");
        for (Duration freeze : FREEZES) {
          List<Long> frozen = someRelays(world);
          World.signal("STOP", frozen);
          socket.send("while frozen");
          LockSupport.parkNanos(freeze.toNanos());
          World.signal("CONT", frozen);
          assertEquals("while frozen", socket.receive());
          socket.echoes("after");
          System.err.println(
              "LinkFaultsIT froze "
                  + frozen.size()
                  + " pipe for "
                  + freeze.toSeconds()
                  + " s; the same pipe after it: "
                  + relays(world).equals(frozen));
        }
      }
      traffic.endsWhole();
    }
  }

  @Test
  void aNotebookKeepsItsKernelAndItsOutput() throws Exception {
    Optional<String> jupyter = Ranks.torch();
    Assumptions.assumeTrue(jupyter.isPresent(), "no torch rig: it has the Jupyter server");
    try (World world = World.asShipped(RELAYS)) {
      world.gpush("up").succeeded();
      try (var notebook = Notebook.open(world, jupyter.get())) {
        List<Long> frozen = someRelays(world);
        BrokenWay.aNotebook(
            notebook, () -> World.signal("STOP", frozen), () -> World.signal("CONT", frozen));
      }
      world.gpush("down", "--discard").succeeded();
    }
  }

  @Test
  void aTwoWayTransferLosesNothingThroughManyCuts() throws Exception {
    try (World world = World.asShipped(Map.of("GPUSH_RELAY", "1"))) {
      world.gpush("up").succeeded();
      long gateway = world.gatewayPid();

      TwoWay.losesNothing(world, () -> killRelays(gateway));
    }
  }

  /** On a loaded machine a pipe may just be replaced. */
  static List<Long> someRelays(World world) throws Exception {
    long gateway = world.gatewayPid();
    var found = new ArrayList<Long>();
    World.until(
        "a relay to freeze",
        () -> {
          found.addAll(relays(gateway));
          return !found.isEmpty();
        });
    return found;
  }

  /** The gateway's children that lead to agents. */
  private static List<Long> relays(World world) throws Exception {
    return relays(world.gatewayPid());
  }

  private static List<Long> relays(long gateway) {
    try (Stream<ProcessHandle> children = ProcessHandle.of(gateway).orElseThrow().children()) {
      return children
          .filter(ProcessHandle::isAlive)
          .map(ProcessHandle::pid)
          .filter(pid -> commandLine(pid).matches("(?s).*(gpush_agent|agent[.]sock).*"))
          .toList();
    }
  }

  /** Whether there was one. */
  private static boolean killRelays(long gateway) {
    return relays(gateway).stream()
            .flatMap(pid -> ProcessHandle.of(pid).stream())
            .filter(ProcessHandle::destroyForcibly)
            .count()
        > 0;
  }

  private static String commandLine(long pid) {
    try {
      return Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1);
    } catch (IOException ended) {
      return "";
    }
  }
}
