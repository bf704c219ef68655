package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Days on which something is missing, full, killed or changed behind our back: what failed, because
 * of what and what to try is said, the exit status is right, and every {@link World} checks at its
 * end that nothing is left running, reserved or lying about.
 */
@Execution(ExecutionMode.CONCURRENT)
final class BadDaysIT {
  private static final Pattern THREE_PARTS =
      Pattern.compile("(?s)(?:^|\n)gpush: [^\n]+\n  because .+\n  try: [^\n]+\n$");

  /** Says its process and its supervisor, then waits for a file. */
  private static final String WAIT =
      """
      import os, sys, time
      print("up", os.getpid(), os.getppid(), flush=True)
      while not os.path.exists("GO"):
          time.sleep(0.02)
      """;

  private static void says(Result result, int exit, String... parts) {
    result.exits(exit);
    assertTrue(THREE_PARTS.matcher(result.err()).find(), result::toString);
    for (String part : parts) {
      assertTrue(result.err().contains(part), () -> "without " + part + ": " + result);
    }
  }

  private static Result with(World world, Path folder, List<String> variables, String... words)
      throws Exception {
    var command = new ArrayList<String>(List.of("env", "-C", folder.toString()));
    command.addAll(variables);
    command.add(world.launcher().toString());
    command.addAll(List.of(words));
    return world.run(new byte[0], command.toArray(String[]::new));
  }

  private static void mount(World world, String... words) throws Exception {
    var command = new ArrayList<String>(List.of("mount"));
    command.addAll(List.of(words));
    Result mounted = world.run(new byte[0], command.toArray(String[]::new));
    assumeTrue(mounted.exit() == 0, () -> "nothing can be mounted here: " + mounted.err());
  }

  private static void unmount(World world, Path where) throws Exception {
    world.run(new byte[0], "umount", "-l", where.toString()).succeeded();
  }

  @Test
  void firstCommandsAtOnceGetOneGatewayAndOneGang() throws Exception {
    try (World world = World.fresh()) {
      var commands = new ArrayList<Process>();
      for (String verb : List.of("ps", "up", "ps", "up", "ps")) {
        commands.add(world.startGpush(verb));
      }
      for (Process command : commands) {
        var err = World.read(command.getErrorStream());
        command.getInputStream().readAllBytes();
        assertEquals(0, command.waitFor(), () -> new String(err.join(), StandardCharsets.UTF_8));
      }

      String log = Files.readString(world.home().resolve("logs/gateway.log"));
      assertEquals(1, log.lines().filter(line -> line.contains("gateway runs")).count(), log);
      assertEquals(1, world.json("ps", "--json").items().size());
      assertEquals(1, world.agents().size());

      deadSocketsAreReplaced(world);
    }
  }

  private static void deadSocketsAreReplaced(World world) throws Exception {
    Path socket =
        Path.of(
            world
                .json("gateway", "status", "--json")
                .object("sockets")
                .text("control")
                .orElseThrow());
    world.killGateway();
    assertEquals(1, world.json("ps", "--json").items().size());
    world.killGateway();
    Files.delete(socket);
    Files.writeString(socket, "no socket");

    assertEquals(1, world.json("ps", "--json").items().size());
    assertEquals(1, world.agents().size());
  }

  @Test
  void aDeepHomeWithASpaceAndAQuoteIsWokenBySsh() throws Exception {
    try (World world = World.withHome("o'brien's home/" + "deep".repeat(30))) {
      world.gpush("up", "--nodes", "1").succeeded();
      String config = world.sshConfig().toString();
      world.killGateway();

      Result woken =
          world.run(new byte[0], "ssh", "-F", config, "devbox", "echo $GPUSH_NODE").succeeded();
      Result unknown =
          world.run(new byte[0], "ssh", "-F", config, "-l", "devbox-7", "devbox", "true");
      Result other = world.run(new byte[0], "ssh", "-F", config, "-l", "nobody", "devbox", "true");

      assertEquals("0\n", woken.out());
      says(unknown, 255, "devbox has no node 7");
      says(other, 255, "there is no session 'nobody'", "you have devbox");
      says(world.gpush("ssh", "--on", "7", "true"), 255, "devbox has no node 7");
      world.run(new byte[0], "ssh", "-F", config, "devbox-7", "true").exits(255);
    }
  }

  @Test
  @Tag("local")
  void aHomeBelowALinkIsTheSameBeforeItIsMadeAndAfter() throws Exception {
    try (World world = World.withHome("link/home")) {
      Path link = world.home().resolveSibling(".").normalize();
      Files.createSymbolicLink(link, Files.createDirectory(link.resolveSibling("disk")));

      world.gpush("ps").succeeded();
      long first = world.gatewayPid();

      assertTrue(Files.exists(link.resolveSibling("disk/home")));
      world.gpush("ps").succeeded();
      assertEquals(first, world.gatewayPid());
    }
  }

  @Test
  void aHomeThatCannotBeUsedIsNamed() throws Exception {
    try (World world = World.fresh()) {
      Path file = world.file("../file", "no folder").normalize();
      Path readOnly = Files.createDirectory(world.project().resolveSibling("read only"));
      for (Path home : List.of(file, file.resolve("home"))) {
        cannotBeUsed(world, home);
      }
      mount(world, "-t", "tmpfs", "-o", "ro,size=64k", "gpush-test", readOnly.toString());
      try {
        cannotBeUsed(world, readOnly);
      } finally {
        unmount(world, readOnly);
      }
    }
  }

  private static void cannotBeUsed(World world, Path home) throws Exception {
    List<String> variables = List.of("GPUSH_HOME=" + home);
    String named = home.toString().replaceFirst("/home$", "");
    says(with(world, world.project(), variables, "ps"), 3, named, "GPUSH_HOME");
    says(with(world, world.project(), variables, "run", "x.py"), 255, named, "GPUSH_HOME");
  }

  @Test
  void aPathWithoutShellAndAPythonThatDoesNotWork() throws Exception {
    try (World world = World.fresh()) {
      Path tools = tools(world, "find");
      Files.createSymbolicLink(tools.resolve("python3"), realPython(world));
      Path broken = script(world.file("broken", "#!/bin/sh\necho no libpython >&2\nexit 127\n"));
      world.file("hello.py", "print('hello')\n");
      List<String> path = List.of("PATH=" + tools);

      with(world, world.project(), path, "up", "--nodes", "1").succeeded();
      Result sum = with(world, world.project(), path, "exec", "echo $((1+1))").succeeded();
      Result hello = with(world, world.project(), path, "run", "hello.py").succeeded();
      Result again = with(world, world.project(), path, "run", "hello.py").succeeded();

      assertEquals("2\n", sum.out());
      assertTrue(hello.out().contains("hello"), hello::toString);
      assertTrue(again.out().contains("hello"), again::toString);
      says(
          world.gpush("run", "--python", "./broken", "hello.py"),
          255,
          broken + " on node 0 does not work",
          "no libpython");
      says(world.gpush("run", "--python", "/nope", "hello.py"), 255, "none of these exists");
    }
  }

  /** The program itself: a version manager's python3 is a script that needs more on PATH. */
  private static Path realPython(World world) throws Exception {
    String print = "import os, sys; print(os.path.realpath(sys.executable))";
    return Path.of(world.run(new byte[0], "python3", "-c", print).succeeded().out().strip());
  }

  /** A folder with links to these programs and nothing else. */
  private static Path tools(World world, String... names) throws Exception {
    Path folder = Files.createDirectory(world.project().resolveSibling("tools"));
    for (String name : names) {
      Result found = world.run(new byte[0], "sh", "-c", "command -v " + name).succeeded();
      Files.createSymbolicLink(folder.resolve(name), Path.of(found.out().strip()));
    }
    return folder;
  }

  private static Path script(Path file) {
    assertTrue(file.toFile().setExecutable(true));
    return file;
  }

  @Test
  @Tag("local")
  void aPythonTooOldForTheAgentIsTold() throws Exception {
    try (World world = World.fresh()) {
      Path tools = tools(world, "find");
      Path old = script(world.file("../old", "#!/bin/sh\necho 2.7.18\nexit 1\n").normalize());

      says(hidden(world, tools, old), 3, "Python is too old", "it is 2.7.18", "3.6");
      assertEquals(List.of(), world.json("ps", "--json").items());
    }
  }

  @Test
  @Tag("local")
  void aPythonThatDoesNotWorkIsNotCalledOld() throws Exception {
    try (World world = World.fresh()) {
      Path tools = tools(world, "find");
      Path broken = script(world.file("../broken", "#!/bin/sh\nexit 1\n").normalize());

      says(hidden(world, tools, broken), 3, "no Python that the agent can use", "3.6");
      assertEquals(List.of(), world.json("ps", "--json").items());
    }
  }

  /** {@code up} where this file is the system's Python: in a mount namespace of its own. */
  private static Result hidden(World world, Path tools, Path python) throws Exception {
    assumeTrue(Files.exists(Path.of("/usr/bin/python3")), "there is no /usr/bin/python3 to hide");
    String script = "mount --bind \"$1\" \"$2\" || exit 99; shift 2; exec \"$@\"";
    Result result =
        world.run(
            new byte[0],
            "unshare",
            "-m",
            "sh",
            "-c",
            script,
            "sh",
            python.toString(),
            Path.of("/usr/bin/python3").toRealPath().toString(),
            "env",
            "PATH=" + tools,
            world.launcher().toString(),
            "up");
    assumeTrue(
        result.exit() != 99 && !result.err().contains("unshare"), () -> "no mounts: " + result);
    return result;
  }

  @Test
  @Tag("local")
  void aFullDiskIsNamedAndLeavesNothing() throws Exception {
    try (World world = World.fresh()) {
      Path nodes = Files.createDirectories(world.home().resolve("nodes"));
      mount(world, "-t", "tmpfs", "-o", "size=6m", "gpush-test", nodes.toString());
      try {
        Path big = Files.write(world.project().resolve("big.bin"), new byte[9_000_000]);

        Result up = world.gpush("up", "--nodes", "1");

        says(up, 1, nodes.toString(), "its disk is full", "free some space there, then gpush up");
        assertEquals(List.of(), world.json("ps", "--json").items());
        assertEquals(List.of(), world.agents());
        assertEquals(List.of(), world.nodeFolders());

        Files.delete(big);
        world.gpush("up", "--nodes", "1").succeeded();
        Files.write(big, new byte[9_000_000]);
        says(world.gpush("run", "true"), 255, nodes.toString(), "its disk is full");
        world.gpush("exec", "true").succeeded();
        Files.delete(big);
        world.gpush("run", "true").succeeded();
        world.gpush("down").succeeded();
      } finally {
        unmount(world, nodes);
      }
    }
  }

  /** A run of {@link #WAIT} whose rank has said who it is. */
  private record Waiting(Process client, long rank, long supervisor) {
    static Waiting in(World world) throws Exception {
      world.file("wait.py", WAIT.replace("GO", world.home().resolve("go").toString()));
      Process client = world.startGpush("run", "wait.py");
      var lines =
          new BufferedReader(
              new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
      String line = lines.readLine();
      while (line != null && !line.contains("up ")) {
        line = lines.readLine();
      }
      String[] words = Optional.ofNullable(line).orElseThrow().split(" ", -1);
      return new Waiting(
          client, Long.parseLong(words[words.length - 2]), Long.parseLong(words[words.length - 1]));
    }

    Result ended() throws Exception {
      String err = new String(client.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result("run wait.py", client.waitFor(), "", err);
    }
  }

  private static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  private static void kill(long pid) {
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
  }

  @Test
  @Tag("local")
  void aKilledSupervisorAndAKilledAgentEndTheRunLoudly() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "1").succeeded();
      Waiting first = Waiting.in(world);
      kill(first.supervisor());
      says(first.ended(), 255, "run 1 was lost on node 0");
      World.until("the rank is gone", () -> !isAlive(first.rank()));
      world.gpush("exec", "true").succeeded();

      Waiting second = Waiting.in(world);
      Json agent = Json.parse(Files.readString(world.agents().getFirst().resolve("agent.json")));
      kill(agent.number("guard").orElseThrow());
      kill(agent.number("pid").orElseThrow());
      says(second.ended(), 255, "devbox is gone", "no agent on node 0");
      World.until("the rank is gone", () -> !isAlive(second.rank()));
      world.gpush("up", "--nodes", "1").succeeded();
      assertEquals(1, world.json("ps", "--json").items().size());
      world.gpush("exec", "true").succeeded();
    }
  }

  /** A test in a JVM of its own, which Ctrl-C or Maven may end. */
  static final class EndedTest {
    public static void main(String[] arguments) throws Exception {
      World world = World.fresh();
      world.start(world.project(), List.of("sleep", "infinity"));
      System.out.println("started");
      new CountDownLatch(1).await();
    }
  }

  @Test
  void aTestThatIsEndedEndsWhatItStarted() throws Exception {
    try (World world = World.fresh()) {
      Process test =
          world.start(
              World.repository(),
              List.of(
                  ProcessHandle.current().info().command().orElseThrow(),
                  "-Djava.io.tmpdir=" + world.project(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  EndedTest.class.getName()));
      assertEquals("started", test.inputReader().readLine());

      test.destroy();
      test.waitFor();

      World.until("what it started has ended", () -> world.processes().isEmpty());
    }
  }

  @Test
  void whatWasChangedOrMadeOnANodeIsTheirs() throws Exception {
    try (World world = World.fresh()) {
      world.file("a.txt", "one\n");
      // Else it might come home before it is changed here as well.
      world.file("gpush.yaml", "sync: {edits: stay}\n");
      world.gpush("up", "--nodes", "1").succeeded();
      world.gpush("exec", "echo theirs > a.txt; echo made there > result.txt").succeeded();
      world.file("a.txt", "two\n");

      Result blocked = world.gpush("run", "cat", "a.txt");
      Result kept = world.gpush("exec", "cat a.txt").succeeded();
      Result forced = world.gpush("run", "--overwrite", "cat", "a.txt").succeeded();

      says(blocked, 255, "a.txt is held", "gpush sync --keep laptop a.txt");
      assertEquals("theirs\n", kept.out());
      assertTrue(forced.out().contains("two"), forced::toString);
      assertTrue(forced.err().contains("overwritten files are in "), forced::toString);
      assertEquals("theirs\n", Files.readString(find(world, "trash").resolve("a.txt")));

      world.gpush("exec", "echo theirs again > a.txt").succeeded();
      world.file("a.txt", "three\n");
      says(world.gpush("sync"), 1, "a.txt is held", "gpush sync --keep laptop a.txt");
      world.gpush("sync", "--keep", "node", "a.txt").succeeded();
      assertEquals("theirs again\n", Files.readString(world.project().resolve("a.txt")));
      Result status = world.gpush("sync", "status").succeeded();
      assertTrue(status.out().contains("trash here: 1 file, "), status::toString);
      assertTrue(status.out().contains("trash of node 0: 1 file, "), status::toString);

      Result down = world.gpush("down").succeeded();
      assertTrue((down.out() + down.err()).contains("result.txt"), down::toString);
      assertEquals("made there\n", Files.readString(find(world, "result.txt")));
      FolderTree.delete(world.home().resolve("nodes"));
    }
  }

  /** The file of this name among what nodes have; of the trash, the one generation in it. */
  private static Path find(World world, String name) throws Exception {
    try (Stream<Path> files = Files.walk(world.home().resolve("nodes"))) {
      Path found = files.filter(file -> file.endsWith(name)).findFirst().orElseThrow();
      if (!Files.isDirectory(found)) {
        return found;
      }
      try (Stream<Path> inside = Files.list(found)) {
        return inside.findFirst().orElseThrow();
      }
    }
  }

  private static void interrupt(World world, Process client) throws Exception {
    world.run(new byte[0], "kill", "-INT", Long.toString(client.pid())).succeeded();
  }

  @Test
  void ctrlCEndsUpAndRunAndAClosedPipeEndsLogs() throws Exception {
    try (World world = World.fresh()) {
      // The first question is for the plan; with the second one the reservation has begun.
      for (int question : List.of(1, 2)) {
        Process up = SilentGpus.from(world, question).start("up", "--nodes", "2", "--gpus", "1");
        interrupt(world, up);
        up.getErrorStream().readAllBytes();
        assertEquals(130, up.waitFor());
        assertEquals(List.of(), world.json("ps", "--json").items());
        assertEquals(List.of(), world.agents());
      }

      world.gpush("up", "--nodes", "1").succeeded();
      Waiting run = Waiting.in(world);
      interrupt(world, run.client());
      run.ended().exits(130);
      World.until("the rank is gone", () -> !isAlive(run.rank()));
      World.until("the supervisor is gone", () -> !isAlive(run.supervisor()));
      assertEquals(1, world.json("ps", "--json").items().size());

      world.file("many.py", "for i in range(200000): print('line', i)\n");
      world.gpush("run", "--detach", "many.py").succeeded();
      String pipe = "\"$0\" logs -f | head -1; exit ${PIPESTATUS[0]}";
      Result logs = world.run(new byte[0], "bash", "-c", pipe, world.launcher().toString());
      assertEquals(1, logs.out().lines().count(), logs::toString);
      assertEquals("", logs.err());
      assertEquals(141, logs.exit());
    }
  }

  @Test
  void theHomeFolderAndTheRootAreNotSentWithoutAsking() throws Exception {
    try (World world = World.fresh()) {
      Path person = Files.createDirectory(world.project().resolveSibling("somebody"));
      List<String> variables =
          List.of("HOME=" + person, "XDG_CACHE_HOME=" + World.cache(), "GPUSH_REBUILD=0");

      Result home = with(world, person, variables, "up");
      Result root = with(world, Path.of("/"), variables, "up");
      Result run = with(world, person, variables, "run", "true");

      says(home, 1, person.toString(), "it is your home folder", "gpush up --yes");
      says(root, 1, "it is the whole file system", "gpush up --yes");
      says(run, 255, "it is your home folder", "--yes");
      assertEquals(List.of(), world.json("ps", "--json").items());
      assertEquals(List.of(), world.agents());
    }
  }
}
