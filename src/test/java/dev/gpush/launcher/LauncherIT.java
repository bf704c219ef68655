package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher, the client and the gateway as processes, with a home and a cache of their own. */
class LauncherIT {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final int SECONDS = 300;

  /** The cache of the user who runs the tests: it has what was just built. */
  private static final String CACHE =
      Optional.ofNullable(System.getenv("XDG_CACHE_HOME"))
          .orElse(System.getenv("HOME") + "/.cache");

  @TempDir private Path temporary;

  private final Map<String, String> environment = new TreeMap<>();
  private final Map<Process, Path> errors = new HashMap<>();

  @BeforeEach
  void prepare() throws Exception {
    Path home = Files.createDirectory(temporary.resolve("a home"));
    environment.put("HOME", home.toString());
    environment.put("GPUSH_HOME", home.resolve(".gpush").toString());
    environment.put("XDG_CACHE_HOME", CACHE);
    environment.put("GPUSH_REBUILD", "0"); // What is tested was just built.
    gpush("gateway", "status"); // The first one prepares what is in the cache, and says so.
  }

  @AfterEach
  void stop() throws Exception {
    assertEquals(0, gpush("gateway", "stop").status());
  }

  @Test
  void startsAGatewayForTheFirstCommandAndKeepsItForTheNext() throws Exception {
    assertEquals(0, gpush("version").status());
    long first = gatewayPid();

    assertEquals(0, gpush("version").status());

    assertEquals(first, gatewayPid());
  }

  @Test
  void startsANewGatewayAfterKillMinusNine() throws Exception {
    gpush("version");
    long killed = gatewayPid();
    kill(killed);

    Answer answer = gpush("version");

    assertEquals(0, answer.status(), answer::toString);
    assertEquals("", answer.err());
    assertNotEquals(killed, gatewayPid());
  }

  @Test
  void saysThatNothingRunsAndStartsNothing() throws Exception {
    Answer status = gpush("gateway", "status");
    Answer json = gpush("gateway", "status", "--json");

    assertEquals(new Answer(3, "not running\n", ""), status);
    assertEquals(new Answer(3, "{\"running\":false}\n", ""), json);
    assertFalse(Files.exists(Path.of(environment.get("GPUSH_HOME"))));
  }

  /** The names are a promise of docs/reference/json.md. */
  @Test
  void theStatusHasTheFieldsThatArePromised() throws Exception {
    gpush("version");

    List<String> names = List.copyOf(gateway().entries().keySet());

    assertEquals(
        List.of(
            ("running pid version build home sockets uptime_s memory_mib memory_limit_mib log ssh"
                    + " agents")
                .split(" ")),
        names);
    String page = Files.readString(launcher().resolveSibling("docs/reference/json.md"));
    names.forEach(name -> assertTrue(page.contains("`" + name + "`"), name + " is not documented"));
  }

  @Test
  void leavesNoRuntimeFileWhenItIsStopped() throws Exception {
    gpush("version");
    Path folder =
        Path.of(gateway().object("sockets").text("control").orElseThrow()).resolveSibling(".");
    long pid = gatewayPid();
    assertTrue(Files.exists(folder));

    gpush("gateway", "stop");

    assertFalse(Files.exists(folder));
    ProcessHandle.of(pid).ifPresent(process -> process.onExit().join());
  }

  @Test
  void stopAlsoClearsWhatAKilledGatewayLeft() throws Exception {
    gpush("version");
    Path folder =
        Path.of(gateway().object("sockets").text("control").orElseThrow()).resolveSibling(".");
    kill(gatewayPid());
    assertTrue(Files.exists(folder));

    Answer answer = gpush("gateway", "stop");

    assertEquals(new Answer(0, "not running\n", ""), answer);
    assertFalse(Files.exists(folder));
  }

  @Test
  void endsOnTerm() throws Exception {
    gpush("version");
    ProcessHandle process = ProcessHandle.of(gatewayPid()).orElseThrow();

    process.destroy();

    process.onExit().get(SECONDS, TimeUnit.SECONDS);
    assertEquals(3, gpush("gateway", "status").status());
  }

  @Test
  @Tag("local")
  void endsWhenNothingNeedsItAndComesBack() throws Exception {
    environment.put("GPUSH_GATEWAY_IDLE", "10s");
    gpush("version");
    ProcessHandle process = ProcessHandle.of(gatewayPid()).orElseThrow();

    process.onExit().get(SECONDS, TimeUnit.SECONDS);

    String log =
        Files.readString(Path.of(environment.get("GPUSH_HOME")).resolve("logs/gateway.log"));
    assertTrue(log.contains("it has had no session and no client for 10s"), log);
    assertEquals(0, gpush("version").status());
  }

  @Test
  @Tag("local")
  void endsWhenItsHomeIsRemovedAndMakesItNotAgain() throws Exception {
    gpush("version");
    ProcessHandle process = ProcessHandle.of(gatewayPid()).orElseThrow();
    Path home = Path.of(environment.get("GPUSH_HOME"));
    Path runtime =
        Path.of(gateway().object("sockets").text("control").orElseThrow()).resolveSibling(".");

    Files.move(home, temporary.resolve("removed"));

    process.onExit().get(SECONDS, TimeUnit.SECONDS);
    assertFalse(Files.exists(home));
    assertFalse(Files.exists(runtime));
    String log = Files.readString(temporary.resolve("removed/logs/gateway.log"));
    assertTrue(log.contains("gateway ends why=\"its home was removed\""), log);
    assertEquals(0, gpush("version").status());
  }

  @Test
  void worksThroughLinksFromAnyFolderWithSpaces() throws Exception {
    Path folder = Files.createDirectories(temporary.resolve("some where/tränen"));
    Path first = Files.createSymbolicLink(folder.resolve("first"), launcher());
    Path second = Files.createSymbolicLink(folder.resolve("second"), Path.of("first"));
    environment.put("LC_ALL", "C");
    environment.put("XDG_CACHE_HOME", temporary.resolve("a cache").toString());
    environment.put("GPUSH_AOT", "0"); // To prepare another cache takes longer than this test.

    Answer direct = answer(start(launcher(), folder, "version"));
    Answer linked = answer(start(second, folder, "version"));
    environment.put("LC_ALL", "xx_XX.UTF-8"); // Such as ssh brings, and as is not installed here.
    Answer beside = answer(start(Path.of("./first"), folder, "version"));

    assertEquals(0, direct.status(), direct::toString);
    assertTrue(Files.isSymbolicLink(first));
    assertEquals(direct, linked);
    assertEquals(direct, beside);
  }

  @Test
  void namesWhatToInstallWhenThereIsNoJdk() throws Exception {
    environment.put("GPUSH_JAVA_HOME", temporary.toString());

    Answer answer = gpush("version");
    Answer run = gpush("-q", "-s", "devbox", "run", "train.py");
    Answer script = gpush("stop", "run");
    environment.remove("GPUSH_JAVA_HOME");

    assertEquals(3, answer.status());
    assertEquals(new Answer(255, "", answer.err()), run);
    assertEquals(3, script.status());
    assertEquals(
        """
        gpush: cannot start
          because GPUSH_JAVA_HOME is not a JDK 25: %s
          try: unset it, or set it to the folder of a JDK 25
        """
            .formatted(temporary),
        answer.err());
  }

  @Test
  void saysWhyAHomeCannotBeUsed() throws Exception {
    Path file = Files.createFile(temporary.resolve("file"));
    environment.put("GPUSH_HOME", file.resolve("home").toString());

    Answer answer = gpush("version");

    assertEquals(3, answer.status());
    assertTrue(
        answer.err().startsWith("gpush: the home folder cannot be used\n  because " + file),
        answer::err);
  }

  @Test
  void saysInOneSentenceThatAHomesNameCannotBe() throws Exception {
    Path home = temporary.resolve("a \"home\"");
    environment.put("GPUSH_HOME", home.toString());

    Answer answer = gpush("version");

    assertEquals(
        new Answer(
            3,
            "",
            """
            gpush: cannot use %s
              because ssh_config cannot contain a path with "
              try: ls -ld '%s'
            """
                .formatted(home, home)),
        answer);
  }

  private record Answer(int status, String out, String err) {}

  private Answer gpush(String... words) throws Exception {
    return answer(start(launcher(), temporary, words));
  }

  private Json gateway() throws Exception {
    return Json.parse(gpush("gateway", "status", "--json").out());
  }

  private long gatewayPid() throws Exception {
    return gateway().number("pid").orElseThrow();
  }

  /** The root of the checkout is two folders above this module's. */
  static Path launcher() {
    return Path.of("..", "..", "gpush").toAbsolutePath().normalize();
  }

  private Process start(Path program, Path folder, String... words) throws IOException {
    var command = new ArrayList<String>(List.of(program.toString()));
    command.addAll(List.of(words));
    var builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectError(Files.createTempFile(temporary, "err", "").toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("GPUSH_"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    errors.put(process, builder.redirectError().file().toPath());
    return process;
  }

  private Answer answer(Process process) throws Exception {
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
    return new Answer(process.exitValue(), out, Files.readString(errors.get(process)));
  }

  private static void kill(long pid) throws Exception {
    ProcessHandle process = ProcessHandle.of(pid).orElseThrow();
    assertTrue(process.destroyForcibly());
    process.onExit().get(SECONDS, TimeUnit.SECONDS);
  }
}
