package dev.gpush.ssh.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameReader;
import dev.gpush.link.frame.FrameWriter;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.connection.Routes;
import dev.gpush.ssh.files.JdkEd25519;
import dev.gpush.ssh.files.KeyFiles;
import dev.gpush.testkit.fake.ConnectedPipe;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.util.net.SshdSocketAddress;
import org.apache.sshd.server.SshServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that leaves before its node has heard of what it wants. */
class CancelledTest {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path folder;

  private final Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());
  private final CompletableFuture<Thread> opening = new CompletableFuture<>();
  private Link link;

  /** It has no pipe yet, and so waits, as one that is cut. */
  @BeforeEach
  void begins() {
    link =
        new Link(
            new LinkIdentity(0, "me@here", "c".repeat(32), 1),
            () -> ConnectedPipe.to(folder.resolve("agent")),
            tasks,
            Clock.system(),
            new Random(1),
            LinkTiming.usual(),
            _ -> {});
  }

  @AfterEach
  void ends() {
    link.close();
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

  private Route waitsForItsLink(String user) {
    opening.complete(Thread.currentThread());
    return new Route.Node(link, Map.of(), folder.toString());
  }

  @Test
  void aCommandWhoseClientHasLeftNeverRuns() throws Exception {
    talk(
        this::waitsForItsLink,
        session -> {
          ChannelExec command = session.createExecChannel("cat >> runs/log");
          command.open().verify();
          OutputStream input = command.getInvertedIn();
          input.write("what it was to append".getBytes(StandardCharsets.UTF_8));
          input.flush();
          opening.get().join();
          // The server has closed the channel, too, when this returns.
          command.close(false).await();
        });

    assertEquals("marker", firstThatTheAgentHearsOf());
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

  private String firstThatTheAgentHearsOf() throws Exception {
    try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(folder.resolve("agent")));
      var connecting = tasks.fork("connect", link::connect);
      try (SocketChannel agent = server.accept()) {
        var writer = new FrameWriter(Channels.newOutputStream(agent));
        writer.write(Frame.ofJson(FrameKind.WELCOME, 0, 0, Json.object("agent", "a")));
        writer.flush();
        connecting.get();
        link.open(Json.object("type", "marker"));
        return firstOpen(new FrameReader(Channels.newInputStream(agent)));
      }
    }
  }

  private static String firstOpen(FrameReader reader) throws IOException {
    Frame frame = reader.next().orElseThrow();
    while (frame.kind() != FrameKind.OPEN) {
      frame = reader.next().orElseThrow();
    }
    return frame.json().text("type").orElse("");
  }
}
