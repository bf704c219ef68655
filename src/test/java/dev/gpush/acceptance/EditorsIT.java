package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Editors themselves, as people use them, on a node of this machine. */
@Timeout(900)
@Execution(ExecutionMode.SAME_THREAD)
final class EditorsIT {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** Longer than a link waits for a sign of life, so that the pipe is replaced. */
  private static final Duration CUT = Duration.ofSeconds(LONG ? 60 : 4);

  private static final Map<String, String> PIPES =
      LONG ? Map.of("GPUSH_RELAY", "1") : Map.of("GPUSH_RELAY", "1", "GPUSH_LINK_CONTACT", "2s");

  private Path rig;

  @BeforeEach
  void begin() throws Exception {
    Optional<String> made = World.rig("editors");
    Assumptions.assumeTrue(made.isPresent(), "the editors rig is down");
    rig = Path.of(made.orElseThrow());
  }

  /** Through {@code ssh -L} with a cut in its middle, and through {@code gpush forward}. */
  @Test
  void theWorkbenchOfVsCode() throws Exception {
    try (World world = World.fresh(PIPES)) {
      world.gpush("up").succeeded();
      try (var server = Workbench.Server.start(world, rig)) {
        int here = World.freePort();
        Process forward = world.forward(here, server.port());
        World.until("the forward", () -> isOpen(here));
        try (var workbench = Workbench.open(world, rig, server, here)) {
          edits(world, server, workbench);
        }
        forward.destroy();
        int kept =
            world
                .json("forward", Integer.toString(server.port()), "--json")
                .items()
                .getFirst()
                .number("local")
                .orElseThrow()
                .intValue();
        try (var workbench = Workbench.open(world, rig, server, kept)) {
          workbench.opens("train.py", "third");
          workbench.types("echo again-$((6 * 7))");
          workbench.prints("again-42");
        }
      }
    }
  }

  private static void edits(World world, Workbench.Server server, Workbench workbench)
      throws Exception {
    workbench.opens("train.py", "first line");
    workbench.appends("second");
    workbench.asksToSave();
    workbench.hasSaved();
    assertEquals("first line\n\nsecond", there(world, server, "train.py"));
    workbench.types("echo typed-$((6 * 7)) | tee typed");
    workbench.prints("typed-42");
    assertEquals("typed-42\n", there(world, server, "typed"));
    List<Long> pipes = LinkFaultsIT.someRelays(world);
    World.signal("STOP", pipes);
    try {
      workbench.types("echo cut-$((6 * 7)) >cut");
      workbench.appends("third");
      workbench.asksToSave();
      LockSupport.parkNanos(CUT.toNanos());
    } finally {
      World.signal("CONT", pipes);
    }
    workbench.hasSaved();
    assertEquals("first line\n\nsecond\nthird", there(world, server, "train.py"));
    workbench.types("cat cut");
    workbench.prints("cut-42");
  }

  private static boolean isOpen(int port) {
    try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  private static String there(World world, Workbench.Server server, String file) throws Exception {
    List<String> line = world.ssh("devbox", "cat " + server.folder() + "/ws/" + file);
    return world.run(new byte[0], line.toArray(String[]::new)).succeeded().out();
  }

  /** With its own settings for shared connections. */
  @Test
  void trampOfEmacs() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up").succeeded();
      String script =
          """
          set -e
          mkdir ../bin
          for program in ssh scp; do
            printf '#!/bin/sh\\nexec /usr/bin/%s -F "%s" "$@"\\n' "$program" "$1" >"../bin/$program"
            chmod +x "../bin/$program"
          done
          there=$(ssh -F "$1" devbox 'mktemp -d')
          PATH=$(cd ../bin && pwd):$PATH emacs -Q --batch -l "$2" "$there"
          ssh -F "$1" devbox "rmdir $there"
          """;
      Path program = World.repository().resolve("src/test/resources/clients/tramp.el");

      Result result =
          world.run(
              new byte[0],
              "bash",
              "-c",
              script,
              "bash",
              world.sshConfig().toString(),
              program.toString());

      assertTrue(result.succeeded().out().endsWith("all\n"), result::toString);
    }
  }

  /**
   * Its own setup script, which no package registry has: the rig takes it from a checkout of the
   * extension if there is one.
   */
  @Test
  void openRemoteSsh() throws Exception {
    Path script = rig.resolve("open-remote-ssh/server-setup.sh");
    Assumptions.assumeTrue(Files.exists(script), "no checkout of open-remote-ssh, see the rig");
    Path clients = Path.of(World.rig("clients").orElseThrow());
    try (World world = World.fresh()) {
      world.gpush("up").succeeded();
      List<String> make = world.ssh("devbox", "mktemp -d");
      String there = world.run(new byte[0], make.toArray(String[]::new)).succeeded().out().strip();

      Result result =
          world.run(
              new byte[0],
              "node",
              World.repository()
                  .resolve("src/test/resources/clients/open_remote_ssh.js")
                  .toString(),
              Files.readString(world.home().resolve("ssh_port")).strip(),
              "devbox",
              world.home().resolve("keys/id_ed25519").toString(),
              clients.resolve("node_modules").toString(),
              script.toString(),
              rig.resolve("node/bin/node").toString(),
              rig.resolve("node_modules/code-server/lib/vscode").toString(),
              there);

      assertTrue(result.succeeded().out().endsWith("all\n"), result::toString);
    }
  }
}
