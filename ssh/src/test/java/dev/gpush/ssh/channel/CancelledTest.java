package dev.gpush.ssh.channel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.files.JdkEd25519;
import dev.gpush.ssh.files.KeyFiles;
import dev.gpush.ssh.route.Connections;
import dev.gpush.ssh.route.Route;
import dev.gpush.ssh.route.Routes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.util.net.SshdSocketAddress;
import org.apache.sshd.server.SshServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that leaves while its command waits for its node. */
class CancelledTest {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path folder;

  private final Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());
  private final CompletableFuture<Thread> opening = new CompletableFuture<>();

  @AfterEach
  void ends() {
    tasks.close();
  }

  /** What a client does once it has logged in. */
  @FunctionalInterface
  private interface Talk {
    void run(ClientSession session) throws Exception;
  }

  private void talk(Routes routes, Talk talk) throws Exception {
    JdkEd25519.register();
    try (var server = SshServer.setUpDefaultServer();
        var client = SshClient.setUpDefaultClient()) {
      server.setHost("127.0.0.1");
      server.setKeyPairProvider(KeyPairProvider.wrap(new KeyFiles(folder).hostKey()));
      server.setPasswordAuthenticator((_, _, _) -> true);
      server.setChannelFactories(ChannelKinds.of(new Connections(tasks, routes)));
      server.start();
      client.setServerKeyVerifier((_, _, _) -> true);
      client.start();
      try (ClientSession session =
          client.connect("devbox", "127.0.0.1", server.getPort()).verify().getClientSession()) {
        session.addPasswordIdentity("any");
        session.auth().verify();
        talk.run(session);
      }
    }
  }

  private Route waitsForItsTurn(String user) throws InterruptedException {
    opening.complete(Thread.currentThread());
    new CountDownLatch(1).await();
    throw new IllegalStateException(user);
  }

  @Test
  void nothingWaitsForTheTurnOfACommandWhoseClientHasLeft() throws Exception {
    talk(
        this::waitsForItsTurn,
        session -> {
          ChannelExec command = session.createExecChannel("true");
          command.open().verify();
          Thread waiting = opening.get();

          command.close(false).await();

          assertTrue(waiting.join(PATIENCE));
        });
  }

  @Test
  void norForThatOfAForwardWhoseConnectionHasEnded() throws Exception {
    talk(
        this::waitsForItsTurn,
        session -> {
          var _ = session.createDirectTcpipChannel(null, new SshdSocketAddress("here", 1)).open();
          Thread waiting = opening.get();

          session.close(true).await();

          assertTrue(waiting.join(PATIENCE));
        });
  }
}
