package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the system sees of the gateway's process. */
final class GatewayProcessIT {
  /** Of a socket that listens, in the kernel's tables. */
  private static final String LISTENS = "0A";

  private static final int STATE = 3;
  private static final int INODE = 9;

  /** Where other people are logged in, they find nothing to connect to. */
  @Test
  @Tag("local")
  void withASocketThereIsNoPort() throws Exception {
    try (World world = World.fresh()) {
      listenOn(world, "port");
      world.gpush("up").succeeded();
      assertEquals(1, ports(world.gatewayPid()).size(), "a port is seen if there is one");
      world.gpush("gateway", "stop").succeeded();

      listenOn(world, "socket");
      world.gpush("up").succeeded();

      assertEquals("in\n", ssh(world));
      assertEquals(List.of(), ports(world.gatewayPid()));
    }
  }

  @Test
  @Tag("local")
  void withASocketItEndsWhenItsHomeIsDeleted() throws Exception {
    try (World world = World.fresh()) {
      listenOn(world, "socket");
      world.gpush("up").succeeded();
      assertEquals("in\n", ssh(world));
      world.gpush("down", "--discard").succeeded();
      ProcessHandle process = ProcessHandle.of(world.gatewayPid()).orElseThrow();

      delete(world.home());

      World.until("the gateway ends", () -> !process.isAlive());
      assertFalse(Files.exists(world.home()), "it does not make its home again");
    }
  }

  @Test
  void takesFlagsFromTheEnvironment() throws Exception {
    try (World world = World.fresh(Map.of("GPUSH_GATEWAY_FLAGS", " -Xmx128m  -Dgpush.test=yes "))) {
      world.gpush("ps").succeeded();

      // ProcessHandle knows no arguments that take more than a page.
      Path said = Path.of("/proc/" + world.gatewayPid() + "/cmdline");
      List<String> words = List.of(Files.readString(said).split("\0", -1));
      assertTrue(words.containsAll(List.of("-Xmx128m", "-Dgpush.test=yes")), words::toString);
      assertTrue(words.indexOf("-Xmx128m") > words.indexOf("-Xmx384m"), "the last one counts");
    }
  }

  @Test
  void writesSchemasForEditorsWhereItCan() throws Exception {
    try (World world = World.fresh()) {
      Path schemas = world.home().resolve("schema");
      world.gpush("ps").succeeded();
      World.until("they are there", () -> Files.exists(schemas.resolve("config.json")));
      world.gpush("gateway", "stop").succeeded();
      delete(schemas);
      Files.createFile(schemas);

      world.gpush("ps").succeeded();
    }
  }

  private static void listenOn(World world, String what) throws IOException {
    Files.createDirectories(world.home());
    Files.writeString(world.home().resolve("config.yaml"), "gateway: {ssh: " + what + "}\n");
  }

  private static String ssh(World world) throws Exception {
    List<String> words = world.ssh("devbox", "echo in");
    return world.run(new byte[0], words.toArray(String[]::new)).succeeded().out();
  }

  /** The lines of the kernel's tables about ports on which this process listens. */
  private static List<String> ports(long pid) throws IOException {
    Set<String> own = sockets(pid);
    var found = new ArrayList<String>();
    for (String table : List.of("tcp", "tcp6")) {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/net/" + table))) {
        String[] fields = line.strip().split("\\s+", -1);
        if (fields[STATE].equals(LISTENS) && own.contains("socket:[" + fields[INODE] + "]")) {
          found.add(line);
        }
      }
    }
    return found;
  }

  private static Set<String> sockets(long pid) throws IOException {
    var found = new HashSet<String>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        try {
          found.add(Files.readSymbolicLink(descriptor).toString());
        } catch (IOException closed) {
          // It was closed meanwhile.
        }
      }
    }
    return found;
  }

  private static void delete(Path folder) throws Exception {
    assertEquals(0, new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor());
  }
}
