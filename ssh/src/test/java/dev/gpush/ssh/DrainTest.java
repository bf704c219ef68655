package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What clients see of a gateway that stops. */
@Tag("local")
class DrainTest {
  private static final String REASON = "the gpush gateway is stopping: another build takes over";

  /** Its keys are exchanged when the gateway is asked to end: the client still checks the host. */
  @Test
  void aLoginInProgressIsUseAndIsFinished() throws Exception {
    var asked = new CountDownLatch(1);
    var answer = new CountDownLatch(1);
    try (var rig = new SshGatewayFixture();
        var tasks = Tasks.named("drain", (_, failure) -> failure.printStackTrace());
        var client = SshClient.setUpDefaultClient()) {
      client.setServerKeyVerifier(
          (_, _, _) -> {
            asked.countDown();
            return await(answer);
          });
      client.start();
      Path key = rig.home().resolve("keys/id_ed25519");
      assertFalse(rig.gateway().isInUse());
      var login = tasks.fork("login", () -> echo(client, rig.gateway().port(), key));
      asked.await();

      assertTrue(rig.gateway().isInUse());
      assertFalse(rig.gateway().hasClients());
      var drained =
          tasks.fork(
              "drain",
              () -> {
                rig.gateway().drain("another build takes over");
                return true;
              });
      // From here on, the port is closed.
      Command.Result late = rig.ssh("devbox", "true").run();
      while (!late.errors().contains("Connection refused")) {
        late = rig.ssh("devbox", "true").run();
      }
      answer.countDown();

      assertEquals("in\n", login.get());
      assertTrue(drained.get());
      while (rig.gateway().isInUse()) {
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      latch.await();
      return true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static String echo(SshClient client, int port, Path key) throws IOException {
    try (ClientSession session =
        client.connect("devbox", "127.0.0.1", port).verify().getClientSession()) {
      session.setKeyIdentityProvider(new FileKeyPairProvider(key));
      session.auth().verify();
      return session.executeRemoteCommand("echo in");
    }
  }

  @Test
  void whoIsConnectedReadsWhyAndNewLoginsAreRefused() throws Exception {
    try (var rig = new SshGatewayFixture();
        var tasks = Tasks.named("drain", (_, failure) -> failure.printStackTrace())) {
      Process terminal =
          new ProcessBuilder(rig.ssh("-tt", "devbox", "echo ready; sleep 1000").words()).start();
      assertEquals('r', terminal.getInputStream().read());
      Process command = rig.forwarding();

      var drained =
          tasks.fork(
              "drain",
              () -> {
                rig.gateway().drain("another build takes over");
                return true;
              });
      byte[] text = new byte[200];
      var seen = new StringBuilder();
      while (seen.indexOf(REASON) < 0) {
        int count = terminal.getErrorStream().read(text);
        assertTrue(count > 0, seen::toString);
        seen.append(new String(text, 0, count, StandardCharsets.UTF_8));
      }
      Command.Result late = rig.ssh("devbox", "true").run();
      assertEquals(255, late.status());
      assertTrue(late.errors().contains("Connection refused"), late.errors());
      command.getOutputStream().close();
      assertEquals(0, command.waitFor(), "it may end in its own time");
      assertTrue(drained.get());

      rig.gateway().close();

      assertEquals(255, terminal.waitFor());
    }
  }
}
