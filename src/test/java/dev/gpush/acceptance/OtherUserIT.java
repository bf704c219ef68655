package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What another user of this machine reaches of a gateway and its nodes here: nothing. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class OtherUserIT {
  /** The machine's own, which every user may start. */
  private static final Path PYTHON = Path.of("/usr/bin/python3");

  private static final Pattern PORT = Pattern.compile("(?m)^\\s*Port (\\d+)");

  /** Prints what it can read, connect to or send a signal to: of a folder, and of processes. */
  private static final String TRIES =
      """
      import os, socket, sys
      folder, pids = sys.argv[1], sys.argv[2:]
      assert os.getuid() != 0
      def reaches(what, act):
          try:
              act()
          except OSError:
              return
          print("reaches", what)
      def talks(client, address):
          client.settimeout(5)
          client.connect(address)
          client.sendall(b"\\n")
          if not client.recv(1):
              raise OSError("closed at once")
      for place, folders, files in os.walk(folder):
          for name in files:
              path = os.path.join(place, name)
              reaches(path, lambda: open(path, "rb").close())
      reaches(folder, lambda: os.listdir(folder))
      reaches(folder + " for writing", lambda: os.mkdir(os.path.join(folder, "mine")))
      names = {line.split()[-1] for line in open("/proc/net/unix") if "gpush" in line or folder in line}
      for name in names:
          with socket.socket(socket.AF_UNIX) as client:
              reaches("the socket " + name, lambda: talks(client, name.replace("@", "\\0", 1)))
      print(len(names), "sockets")
      for pid in pids:
          reaches("a signal to " + pid, lambda: os.kill(int(pid), 0))
          reaches("the environment of " + pid, lambda: open("/proc/%s/environ" % pid, "rb").read())
          reaches("the files of " + pid, lambda: os.listdir("/proc/%s/fd" % pid))
      """;

  private static Result asNobody(World world, String... words) throws Exception {
    var all = new ArrayList<>(List.of("setpriv", "--reuid=65534", "--regid=65534"));
    all.addAll(List.of("--clear-groups", "--reset-env"));
    all.addAll(List.of(words));
    return world.run(new byte[0], all.toArray(String[]::new));
  }

  @Test
  void reachesNothing() throws Exception {
    Assumptions.assumeTrue(
        System.getProperty("user.name").equals("root"), "not root: cannot become another user");
    Assumptions.assumeTrue(Files.isExecutable(PYTHON), "there is no " + PYTHON);
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      // The folders of the test would hide what gpush itself leaves open.
      for (Path each : List.of(world.home().getParent(), world.project())) {
        Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
      var words = new ArrayList<>(List.of(PYTHON.toString(), "-c", TRIES));
      words.add(world.home().toString());
      words.add(Long.toString(world.gatewayPid()));
      for (Json node : world.json("nodes", "--json").items()) {
        words.add(Long.toString(node.number("agent_pid").orElseThrow()));
      }

      Result tried = asNobody(world, words.toArray(String[]::new)).succeeded();

      assertTrue(tried.out().matches("[1-9]\\d* sockets\\n"), tried::toString);
      Matcher port = PORT.matcher(Files.readString(world.sshConfig()));
      assertTrue(port.find());
      Result login =
          asNobody(
              world,
              "ssh",
              "-F",
              "none",
              "-oBatchMode=yes",
              "-oStrictHostKeyChecking=no",
              "-oUserKnownHostsFile=/dev/null",
              "-p",
              port.group(1),
              "devbox@127.0.0.1",
              "true");
      assertEquals(255, login.exit());
      assertTrue(login.err().contains("Permission denied (publickey)"), login::toString);
      assertEquals(
          0, world.run(new byte[0], world.ssh("devbox", "true").toArray(String[]::new)).exit());
    }
  }
}
