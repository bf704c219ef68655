package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.connection.PublishedSession;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.connection.Routes;
import dev.gpush.ssh.files.SshServerSettings;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.apache.sshd.client.ClientBuilder;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.common.kex.BuiltinDHFactories;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who gets in, under which name and port; and what happens when the gateway is not there. */
class GatewayTest {
  private static final int LOGINS = 200;
  private static final Duration PATIENCE = Duration.ofSeconds(240);

  @TempDir private Path folder;
  private Tasks tasks;

  @BeforeEach
  void starts() {
    tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
  }

  @AfterEach
  void ends() {
    tasks.close();
  }

  private Path home() throws IOException {
    return Files.createDirectories(folder.resolve("a home"));
  }

  private SshServerSettings settings(String... launcher) throws IOException {
    return new SshServerSettings(
        home(), List.of(launcher), folder.resolve("config"), Optional.empty(), Optional.empty());
  }

  private SshGateway start(SshServerSettings settings) {
    return start(settings, Clock.system());
  }

  private SshGateway start(SshServerSettings settings, Clock clock) {
    Routes nowhere =
        user ->
            new Route.Refused(
                new dev.gpush.core.failure.UsageFailure.UnknownSession(user, List.of(), List.of()));
    var gateway = SshGateway.start(settings, nowhere, tasks, clock);
    gateway.publish(
        List.of(new PublishedSession(dev.gpush.core.session.SessionName.parse("devbox"), 1)));
    return gateway;
  }

  private Command ssh(String... arguments) throws IOException {
    var words = new ArrayList<>(List.of("ssh", "-F", home().resolve("ssh_config").toString()));
    words.addAll(List.of(arguments));
    return new Command(words, folder);
  }

  /** The sentence that only who has got in can read. */
  private static void assertIn(Command.Result result) {
    assertTrue(result.errors().startsWith("gpush: there is no session"), result.errors());
  }

  @Test
  void letsInOnlyWhoHasTheKey() throws Exception {
    try (var gateway = start(settings("false"))) {
      Path other = folder.resolve("other");
      new Command(
              List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other.toString()),
              folder)
          .run();

      assertIn(ssh("devbox", "true").run());
      var refused =
          new Command(
                  List.of(
                      "ssh",
                      "-F",
                      "none",
                      "-i",
                      other.toString(),
                      "-o",
                      "IdentitiesOnly=yes",
                      "-o",
                      "StrictHostKeyChecking=no",
                      "-o",
                      "UserKnownHostsFile=/dev/null",
                      "-p",
                      gateway.port() + "",
                      "devbox@127.0.0.1",
                      "true"),
                  folder)
              .run();

      assertEquals(255, refused.status());
      assertTrue(refused.errors().contains("Permission denied (publickey)"), refused.errors());
    }
  }

  @Test
  void offersNothingOld() throws Exception {
    try (var gateway = start(settings("false"))) {
      var result = ssh("-vv", "devbox", "true").run();

      String proposal = result.errors().substring(result.errors().indexOf("peer server KEXINIT"));
      for (String old : List.of("sha1", "chacha20", "cbc", "nistp", "group14", "ssh-rsa")) {
        String offered = proposal.lines().limit(12).reduce("", (all, line) -> all + "\n" + line);
        assertTrue(!offered.contains(old), old + " in" + offered);
      }
      assertTrue(proposal.contains("mlkem768x25519-sha256"), "no key exchange of the future");
      assertTrue(proposal.contains("cipher: aes128-gcm@openssh.com"), proposal);
      assertNotEquals(0, gateway.port());
    }
  }

  @Test
  void keepsItsPortKeysAndModes() throws Exception {
    boolean isKept = false;
    for (int attempt = 0; !isKept; attempt++) {
      assertTrue(attempt < 20, "a port is not kept unless somebody else takes it just then");
      int port;
      try (var first = start(settings("false"))) {
        port = first.port();
      }
      String key = Files.readString(home().resolve("keys/id_ed25519.pub"));
      String known = Files.readString(home().resolve("known_hosts"));
      try (var second = start(settings("false"))) {
        isKept = second.port() == port;
        if (isKept) {
          assertEquals(known, Files.readString(home().resolve("known_hosts")));
        }
        assertEquals(key, Files.readString(home().resolve("keys/id_ed25519.pub")));
        assertIn(ssh("devbox", "true").run());
      }
    }
    assertEquals("rwx------", mode("keys"));
    assertEquals("rw-------", mode("keys/id_ed25519"));
    assertEquals("rw-------", mode("keys/ssh_host_ed25519_key"));
  }

  private String mode(String path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(home().resolve(path)));
  }

  @Test
  void movesToAnotherPortWhenItsOwnIsTaken() throws Exception {
    try (var thief = thief();
        var second = start(settings("false"))) {
      assertNotEquals(thief.getLocalPort(), second.port());
      assertIn(ssh("devbox", "true").run());
    }
  }

  /** Has the port that a gateway had; another test may have been faster than we are. */
  private ServerSocket thief() throws Exception {
    while (true) {
      int port;
      try (var first = start(settings("false"))) {
        port = first.port();
      }
      try {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
      } catch (BindException stolenAlready) {
        // Then the next gateway gets another one.
      }
    }
  }

  // ---- issue 14, line 21: connections that have not logged in

  /** Keys are exchanged with all of them, by clients that all begin at the same moment. */
  @Test
  void twoHundredLoginsAtOnceAllSucceed() throws Exception {
    try (var gateway = start(settings("false"));
        var client = SshClient.setUpDefaultClient()) {
      client.setServerKeyVerifier((_, _, _) -> true);
      // The quickest that there is: the clients' keys are computed on the same cores.
      client.setKeyExchangeFactories(
          List.of(ClientBuilder.DH2KEX.apply(BuiltinDHFactories.curve25519)));
      client.start();
      var key = new FileKeyPairProvider(home().resolve("keys/id_ed25519")).loadKeys(null);
      var begin = new CountDownLatch(1);
      var logins = new ArrayList<Task<Boolean, ?>>();
      for (int i = 0; i < LOGINS; i++) {
        logins.add(tasks.fork("login", () -> login(client, gateway.port(), key, begin)));
      }

      begin.countDown();

      for (Task<Boolean, ?> login : logins) {
        assertTrue(login.get());
      }
    }
  }

  private static boolean login(
      SshClient client, int port, Iterable<KeyPair> key, CountDownLatch begin) throws Exception {
    begin.await();
    try (var session = client.connect("devbox", "127.0.0.1", port).verify(PATIENCE).getSession()) {
      key.forEach(session::addPublicKeyIdentity);
      return session.auth().verify(PATIENCE).isSuccess();
    }
  }

  @Test
  void refusesAHomeThatSshCannotRead() {
    var refused =
        assertThrows(
            GpushException.class,
            () ->
                new SshServerSettings(
                    Path.of("/a\"b"),
                    List.of("gpush"),
                    Path.of("config"),
                    Optional.empty(),
                    Optional.empty()));

    assertTrue(refused.failure().toString().contains("ssh_config cannot contain"));
  }

  @Test
  void saysThatAKeyIsDamaged() throws Exception {
    Files.createDirectories(home().resolve("keys"));
    Files.writeString(home().resolve("keys/id_ed25519"), "not a key");

    var refused = assertThrows(GpushException.class, () -> start(settings("false")));

    assertTrue(refused.failure().toString().contains("id_ed25519"));
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
    SshServerSettings settings = settings(launcher.toString());
    start(settings).close();
    var asked =
        tasks.fork(
            "gateway",
            () -> {
              String request = Files.readString(wanted);
              SshGateway gateway = start(settings);
              Files.writeString(served, "yes\n");
              return new Started(request, gateway);
            });

    var first = ssh("devbox", "true").run();
    Started started = asked.get();
    try (var gateway = started.gateway()) {
      var second = ssh("devbox", "true").run();

      assertTrue(gateway.access().configText().contains("Port " + gateway.port()));
      assertIn(first);
      assertIn(second);
      assertEquals("__wake " + home() + "\n", started.request());
    }
  }

  private record Started(String request, SshGateway gateway) {}

  private Command.Result wake() throws Exception {
    return new Command(List.of("/bin/sh", home().resolve("ssh_wake").toString()), folder).run();
  }

  @Test
  void takesNobodyElseForTheGateway() throws Exception {
    try (var thief = thief()) {
      tasks.start(
          "thief",
          () -> {
            try (Socket client = thief.accept()) {
              client
                  .getOutputStream()
                  .write("SSH-2.0-OpenSSH_9.9 other\r\n".getBytes(StandardCharsets.US_ASCII));
              client.getInputStream().readAllBytes();
            } catch (IOException closed) {
              // The test is over.
            }
          });

      assertEquals(1, wake().status(), "the launcher, which says no, was not asked");
    }
  }

  @Test
  void tellsClientsThatItStops() throws Exception {
    var gateway = start(settings("false"));
    Process client =
        new ProcessBuilder(
                "ssh", "-F", home().resolve("ssh_config").toString(), "-N", "-v", "devbox")
            .start();
    var errors = client.errorReader();
    String line = errors.readLine();
    while (line != null && !line.contains("Entering interactive session")) {
      line = errors.readLine();
    }

    gateway.close();

    String rest = errors.readAllAsString();
    assertTrue(rest.contains("the gpush gateway is stopping"), rest);
    assertEquals(255, client.waitFor());
  }
}
