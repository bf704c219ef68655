package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.connection.PublishedSession;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.files.SshServerSettings;
import dev.gpush.ssh.files.Wsl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ssh of Windows, with stand-ins for the programs of Windows and WSL, and OpenSSH of this
 * machine in place of that of Windows: paths of Windows are those of here.
 */
class WindowsLinkTest {
  private static final String CMD =
      """
      #!/bin/sh
      case "$1 $2 $3" in
        "/d /c echo %USERPROFILE%") printf 'C:\\\\Users\\\\ann\\r\\n' ;;
        "/d /c echo %USERNAME%") printf 'ann\\r\\n' ;;
        *) exit 1 ;;
      esac
      """;

  private static final String WSLPATH =
      """
      #!/bin/sh
      case $1 in
        -u) [ "$2" = 'C:\\Users\\ann' ] && echo "PROFILE" ;;
        -m) echo "$2" ;;
      esac
      """;

  private static final String WSL =
      """
      #!/bin/sh
      [ "$1 $2 $3" = "-d Ubuntu-24.04 -e" ] || exit 9
      shift 3
      exec "$@"
      """;

  @TempDir private Path folder;

  private final Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());
  private final List<String> said = new ArrayList<>();

  @BeforeEach
  void begins() throws IOException {
    Files.createDirectories(profile());
    program("cmd.exe", CMD);
    program("wslpath", WSLPATH.replace("PROFILE", profile().toString()));
    program("wsl.exe", WSL);
    program("icacls.exe", "#!/bin/sh\nprintf '%s\\n' \"$@\" >'" + folder + "/icacls'\n");
  }

  @AfterEach
  void ends() {
    tasks.close();
  }

  private Path profile() {
    return folder.resolve("mnt/c/Users/ann");
  }

  private Path windowsConfig() {
    return profile().resolve(".ssh/config");
  }

  private Path programs() {
    return folder.resolve("windows");
  }

  private void program(String name, String text) throws IOException {
    Files.createDirectories(programs());
    Path file = Files.writeString(programs().resolve(name), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  /** As the gateway starts them, from a PATH with the stand-ins. */
  private Optional<String> output(List<String> words) {
    try {
      var command = new ArrayList<>(words);
      command.set(0, programs().resolve(words.getFirst()).toString());
      Process process = new ProcessBuilder(command).start();
      byte[] printed = process.getInputStream().readAllBytes();
      return process.waitFor() == 0
          ? Optional.of(new String(printed, StandardCharsets.UTF_8).strip())
          : Optional.empty();
    } catch (IOException missing) {
      return Optional.empty();
    } catch (InterruptedException stop) {
      throw new IllegalStateException(stop);
    }
  }

  private SshGateway start(Optional<Path> socket) {
    var settings =
        new SshServerSettings(
            folder.resolve("a 100% home"),
            List.of("false"),
            folder.resolve("config"),
            socket,
            Optional.of(new Wsl("Ubuntu-24.04", this::output)));
    try {
      Files.createDirectories(settings.home());
    } catch (IOException failed) {
      throw new IllegalStateException(failed);
    }
    var gateway =
        SshGateway.start(
            settings,
            user -> new Route.Refused(new UsageFailure.UnknownSession(user, List.of(), List.of())),
            tasks,
            Clock.system());
    publish(gateway, "devbox");
    return gateway;
  }

  private static void publish(SshGateway gateway, String session) {
    gateway.publish(List.of(new PublishedSession(SessionName.parse(session), 1)));
  }

  private Talk willing() {
    return new Talk() {
      @Override
      public void say(String line) {
        said.add(line);
      }

      @Override
      public Step step(String what) {
        return Talk.silent().step(what);
      }

      @Override
      public void confirm(String question, String flag) {
        said.add(question + " " + flag);
      }
    };
  }

  /** The sentence that only who has got in can read. */
  private void assertIn(String host) throws Exception {
    Command.Result result =
        new Command(
                List.of(
                    "env",
                    "PATH=" + programs() + ":" + System.getenv("PATH"),
                    "ssh",
                    "-F",
                    windowsConfig().toString(),
                    host,
                    "true"),
                folder)
            .run();
    assertTrue(result.errors().startsWith("gpush: there is no session"), result.errors());
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(profile())) {
      return all.filter(Files::isRegularFile).map(profile()::relativize).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void findsSessionsThroughWslUntilItIsUndone(boolean bySocket) throws Exception {
    Files.createDirectories(windowsConfig().resolveSibling(""));
    Files.writeString(windowsConfig(), "Host other\r\n  Port 1\r\n");
    Optional<Path> socket = bySocket ? Optional.of(folder.resolve("ssh.sock")) : Optional.empty();
    try (SshGateway gateway = start(socket)) {
      gateway.access().linkWindows(willing());

      assertIn("devbox");
      assertEquals(2, said.size());
      assertTrue(
          said.getFirst().startsWith("Copy this home's key to " + profile()), said::toString);
      publish(gateway, "other-box");
      assertIn("other-box");
      Path key =
          profile()
              .resolve(
                  files().stream()
                      .filter(file -> file.endsWith("id_ed25519"))
                      .findFirst()
                      .orElseThrow());
      assertEquals(
          List.of(key.toString(), "/inheritance:r", "/grant:r", "ann:F"),
          Files.readAllLines(folder.resolve("icacls")));
      assertTrue(
          Files.readString(key.resolveSibling("config"))
              .contains("  ProxyCommand wsl.exe -d Ubuntu-24.04 -e /bin/sh \"" + folder));
      gateway.access().linkWindows(willing());
      assertEquals(3, said.size(), "it asks once");

      gateway.access().unlink(willing());

      assertEquals(List.of(Path.of(".ssh/config")), files());
      assertEquals("Host other\r\n  Port 1\r\n", Files.readString(windowsConfig()));
      publish(gateway, "devbox");
      assertEquals(List.of(Path.of(".ssh/config")), files());
    }
  }

  @Test
  void nothingIsCopiedBeforeTheUserAgrees() throws Exception {
    try (SshGateway gateway = start(Optional.empty())) {
      assertThrows(GpushException.class, () -> gateway.access().linkWindows(Talk.silent()));
    }
    assertEquals(List.of(), files());
  }

  @ParameterizedTest
  @ValueSource(strings = {"cmd.exe", "wslpath", "icacls.exe"})
  void aProgramThatIsMissingIsSaid(String name) throws Exception {
    Files.delete(programs().resolve(name));
    try (SshGateway gateway = start(Optional.empty())) {
      assertThrows(GpushException.class, () -> gateway.access().linkWindows(willing()));
    }
    assertFalse(Files.exists(windowsConfig()));
    assertEquals(List.of(), files(), "no key stays that others may read");
  }

  @Test
  void isOfferedInsideWslOnly() {
    Wsl.Programs none = _ -> Optional.empty();
    String kernel = "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@x)";

    assertTrue(Wsl.of(kernel, Optional.of("Ubuntu"), none).isPresent());
    assertFalse(Wsl.of(kernel, Optional.empty(), none).isPresent());
    assertFalse(Wsl.of(kernel, Optional.of("a & b"), none).isPresent());
    assertFalse(Wsl.of("Linux version 6.1.0-amd64", Optional.of("Ubuntu"), none).isPresent());
  }
}
