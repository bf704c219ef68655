package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Editors themselves, as people use them, on a node of this machine. */
@Timeout(900)
@Execution(ExecutionMode.SAME_THREAD)
@Tag("editors")
final class EditorsIT {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** Longer than a link waits for a sign of life, so that the pipe is replaced. */
  private static final Duration CUT = Duration.ofSeconds(LONG ? 60 : 4);

  private static final Map<String, String> PIPES =
      LONG ? Map.of("GPUSH_RELAY", "1") : Map.of("GPUSH_RELAY", "1", "GPUSH_LINK_CONTACT", "2s");

  /** What the process with the extensions finds, of the editor on this node. */
  private static final String EXTENSIONS =
      """
      import glob, os, shutil
      own = os.environ["GPUSH_WORKSPACE"]
      for folder in glob.glob("/proc/[0-9]*"):
          try:
              words = open(folder + "/cmdline").read()
              entries = open(folder + "/environ").read().split("\\0")
          except OSError:
              continue
          env = dict(each.split("=", 1) for each in entries if "=" in each)
          if "type=extensionHost" in words and env.get("GPUSH_WORKSPACE") == own:
              print(shutil.which("python3", path=env["PATH"]), env.get("EXTRA"))
      """;

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
    try (World world = World.asShipped(PIPES)) {
      Path venv = EnvironmentIT.environment(world, "venv");
      Everywhere.prepare(world);
      world.file("gpush.yaml", "env: {EXTRA: more}%npython: {venv: %s}%n".formatted(venv));
      world.gpush("up").succeeded();
      try (var server = Workbench.Server.start(world, rig)) {
        int here = World.freePort();
        Process forward = world.forward(here, server.port());
        World.until("the forward", () -> isOpen(here));
        try (var workbench = Workbench.open(world, rig, server, here)) {
          edits(world, server, workbench);
          Everywhere.requireIn(world, server, workbench);
          extensionsHaveTheEnvironment(world);
        }
        forward.destroy();
        int kept = server.forwarded(world);
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
    assertEquals("first line\n\nsecond", server.read(world, "train.py"));
    workbench.types("echo typed-$((6 * 7)) | tee typed");
    workbench.prints("typed-42");
    assertEquals("typed-42\n", server.read(world, "typed"));
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
    assertEquals("first line\n\nsecond\nthird", server.read(world, "train.py"));
    workbench.types("cat cut");
    workbench.prints("cut-42");
  }

  private static void extensionsHaveTheEnvironment(World world) throws Exception {
    Json overSsh = Everywhere.overSsh(world, "devbox");
    assertEquals("more", overSsh.object("variables").text("EXTRA").orElse(""));
    Result extensions = Everywhere.ssh(world, EXTENSIONS, "devbox", "python3 -");
    assertEquals(
        overSsh.text("python").orElse("") + " more\n",
        extensions.succeeded().out(),
        "what language servers and debuggers find");
  }

  /**
   * What is saved, committed and checked out in the editor is here and on all nodes, what is saved
   * here is in the editor, and where both were changed nothing is lost.
   */
  @Test
  void theWorkbenchOfVsCodeOnTheWorkspace() throws Exception {
    try (World world = World.asShipped(Map.of())) {
      world.file("train.py", "first line\n");
      world.run(new byte[0], "sh", "-c", HistoryIT.REPOSITORY).succeeded();
      world.gpush("up", "--nodes", "2").succeeded();
      world.gpush("sync", "now").succeeded();
      World.until("history", () -> HistoryIT.history(world).endsWith(", as here"));
      try (var server = Workbench.Server.onTheWorkspace(world, rig)) {
        int kept = server.forwarded(world);
        try (var workbench = Workbench.open(world, rig, server, kept)) {
          workbench.opens("train.py", "first line");
          workbench.appends("edited-there");
          workbench.asksToSave();
          workbench.hasSaved();
          Path here = world.project().resolve("train.py");
          List<String> where = world.ssh("devbox-1", "echo $GPUSH_WORKSPACE");
          String other = world.run(new byte[0], where.toArray(String[]::new)).out().strip();
          Path there = Path.of(other, "train.py");
          String edited = "first line\n\nedited-there";
          World.until("it is here", () -> is(here, edited));
          World.until("it is on node 1", () -> is(there, edited));

          workbench.commits("edited");
          workbench.types("git checkout -qb other && echo other >train.py");
          workbench.types("git commit -qam other && echo on-$((6 * 7))");
          workbench.prints("on-42");
          World.until("the branch is here", () -> is(here, "other\n") && is(there, "other\n"));
          workbench.types("git checkout -q main && echo back-$((6 * 7))");
          workbench.prints("back-42");
          World.until("and the other one", () -> is(here, edited) && is(there, edited));
          World.until("commits are here", () -> log(world).equals("other\nedited\nfirst\n"));

          world.file("train.py", "edited-here\n");
          workbench.opens("train.py", "edited-here");
          bothEdit(world, workbench, there);
        }
      }
      // The trash of node 0 is the user's and stays.
      world.gpush("down", "--discard").succeeded();
      FolderTree.delete(world.home().resolve("nodes"));
    }
  }

  private static String log(World world) {
    try {
      return world.run(new byte[0], "git", "log", "--format=%s", "refs/gpush/devbox/other").out();
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static void bothEdit(World world, Workbench workbench, Path other) throws Exception {
    bothEdit(world, workbench, "mine\n", "theirs");
    assertTrue(is(other, "edited-here\n"));

    world.gpush("sync", "--keep", "laptop", "train.py").succeeded();
    World.until("it is on node 1", () -> is(other, "mine\n"));
    workbench.opens("train.py", "mine");
    requireInTrash(world, true, "edited-here\n\ntheirs");

    bothEdit(world, workbench, "mine, again\n", "theirs, again");

    world.gpush("sync", "--keep", "node", "train.py").succeeded();
    String theirs = "mine\n\ntheirs, again";
    World.until("it is on node 1", () -> is(other, theirs));
    assertTrue(is(world.project().resolve("train.py"), theirs));
    requireInTrash(world, false, "mine, again\n");
  }

  private static void bothEdit(World world, Workbench workbench, String here, String there)
      throws Exception {
    world.gpush("sync", "pause").succeeded();
    world.file("train.py", here);
    workbench.appends(there);
    workbench.asksToSave();
    workbench.hasSaved();
    Result refused = world.gpush("run", "true").exits(255);
    assertTrue(refused.err().contains("train.py is held"), refused::toString);
  }

  /** In one that {@code sync status} names. */
  private static void requireInTrash(World world, boolean isOfNode, String text) throws Exception {
    var texts = new ArrayList<String>();
    for (Json trash : world.json("sync", "status", "--json").items("trashes")) {
      if (trash.number("node").isPresent() == isOfNode) {
        try (Stream<Path> files = Files.walk(Path.of(trash.text("folder").orElseThrow()))) {
          for (Path file : files.filter(Files::isRegularFile).toList()) {
            texts.add(Files.readString(file));
          }
        }
      }
    }
    assertTrue(texts.contains(text), texts::toString);
  }

  private static boolean is(Path file, String text) {
    try {
      return Files.readString(file).equals(text);
    } catch (IOException replaced) {
      return false;
    }
  }

  /** For longer than the idle time; then the editor is open and silent. */
  @Test
  void whoTypesIntoTheWorkbenchOfVsCodeKeepsTheNode() throws Exception {
    try (World world = World.asShipped(PIPES)) {
      world.gpush("up").succeeded();
      try (var server = Workbench.Server.start(world, rig)) {
        int kept = server.forwarded(world);
        try (var workbench = Workbench.open(world, rig, server, kept)) {
          workbench.opens("train.py", "first");
          workbench.types("");
          world.gpush("up", "--idle", "30s").succeeded();
          workbench.typesSlowly("x".repeat(300), Duration.ofMillis(150));
          assertEquals(1, world.agents().size(), "typing keeps the node");
          World.until("the agent is gone", () -> world.agents().isEmpty());
        }
      }
    }
  }

  private static boolean isOpen(int port) {
    try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  /** With its own settings for shared connections. */
  @Test
  void trampOfEmacs() throws Exception {
    try (World world = World.asShipped(Map.of())) {
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
    try (World world = World.asShipped(Map.of())) {
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
