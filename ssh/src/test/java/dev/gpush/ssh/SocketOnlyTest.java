package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.connection.PublishedSession;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.files.SshAddress;
import dev.gpush.ssh.files.SshServerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway that listens on a socket of its user alone, and OpenSSH. */
class SocketOnlyTest {
  @TempDir private Path folder;

  private final Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());

  @AfterEach
  void ends() {
    tasks.close();
  }

  private Path home() throws IOException {
    return Files.createDirectories(folder.resolve("it's a 100% home"));
  }

  private Path socket() {
    return folder.resolve("ssh.sock");
  }

  private SshGateway start(String launcher) throws IOException {
    var settings =
        new SshServerSettings(
            home(),
            List.of(launcher),
            folder.resolve("config"),
            Optional.of(socket()),
            Optional.empty());
    var gateway =
        SshGateway.start(
            settings,
            user -> new Route.Refused(new UsageFailure.UnknownSession(user, List.of(), List.of())),
            tasks,
            Clock.system());
    gateway.publish(List.of(new PublishedSession(SessionName.parse("devbox"), 1)));
    return gateway;
  }

  private Command ssh() throws IOException {
    return new Command(
        List.of("ssh", "-F", home().resolve("ssh_config").toString(), "devbox", "true"), folder);
  }

  /** The sentence that only who has got in can read. */
  private static void assertIn(Command.Result result) {
    assertTrue(result.errors().startsWith("gpush: there is no session"), result.errors());
  }

  @Test
  void isReachedThroughAProgramOfOurs() throws Exception {
    try (var gateway = start("false")) {
      assertIn(ssh().run());

      assertEquals(new SshAddress.Socket(socket()), gateway.address());
      assertFalse(gateway.access().configText().contains("Port "));
      assertEquals(
          "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket())));
    }
    assertFalse(Files.exists(socket()));
  }

  @Test
  void saysWhyItCannotListen() throws Exception {
    Files.createDirectories(socket().resolve("not a socket"));

    var refused = assertThrows(GpushException.class, () -> start("false"));

    assertEquals(
        new GatewayFailure.HomeUnusable(
            home().toString(),
            "gpush cannot listen for ssh on " + socket() + ": the folder is not empty"),
        refused.failure());
  }

  /** A full disk must not keep a session from being given back. */
  @Test
  void writesItsFilesWhenItCanAgain() throws Exception {
    Path inTheWay = Files.createDirectories(home().resolve("known_hosts").resolve("no file"));
    try (var gateway = start("false")) {
      var refused = assertThrows(GpushException.class, () -> gateway.access().configText());
      Files.delete(inTheWay);
      Files.delete(home().resolve("known_hosts"));

      gateway.ensureBound();

      assertInstanceOf(GatewayFailure.HomeUnusable.class, refused.failure());
      assertIn(ssh().run());
    }
  }

  @Test
  void listensAgainWhenItsFileWasRemoved() throws Exception {
    try (var gateway = start("false")) {
      Files.delete(socket());

      gateway.ensureBound();

      assertIn(ssh().run());
    }
  }

  @Test
  void listensNoMoreOnceItDrains() throws Exception {
    try (var gateway = start("false")) {
      gateway.drain("another build takes over");
      gateway.ensureBound();

      assertFalse(Files.exists(socket()));
    }
  }

  @Test
  void takesThePlaceOfOneThatWasKilled() throws Exception {
    Files.createFile(socket());

    try (var gateway = start("false")) {
      assertIn(ssh().run());
      assertEquals(0, gateway.port());
    }
  }

  @Test
  void isBroughtBackByTheClient() throws Exception {
    Path wanted = folder.resolve("wanted");
    Path served = folder.resolve("served");
    new Command(List.of("mkfifo", wanted.toString(), served.toString()), folder).run();
    Path launcher = folder.resolve("launch it");
    Files.writeString(
        launcher,
        """
        #!/bin/sh
        echo "$1 $GPUSH_HOME" > '%s'
        read -r line < '%s'
        """
            .formatted(wanted, served));
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
    start(launcher.toString()).close();
    var asked =
        tasks.fork(
            "gateway",
            () -> {
              String request = Files.readString(wanted);
              SshGateway gateway = start(launcher.toString());
              Files.writeString(served, "yes\n");
              return new Started(request, gateway);
            });

    Command.Result result = ssh().run();

    Started started = asked.get();
    try (var _ = started.gateway()) {
      assertIn(result);
      assertEquals("__wake " + home() + "\n", started.request());
    }
  }

  private record Started(String request, SshGateway gateway) {}

  @Test
  void saysWhenNoGatewayAnswers() throws Exception {
    start("false").close();

    Command.Result result = ssh().run();

    assertEquals(255, result.status());
    assertTrue(result.errors().contains("gpush: no gateway answers at "), result.errors());
  }
}
