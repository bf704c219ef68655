package dev.gpush.ssh.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.files.JdkEd25519;
import dev.gpush.ssh.files.KeyFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.channel.ChannelExec;
import org.apache.sshd.client.channel.ClientChannelEvent;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of messages, where the route of a channel answers before the connection's thread. */
class SessionChannelTest {
  @TempDir private Path folder;

  /** A closed group of threads refuses at once, on the thread that asks: the earliest there is. */
  @Test
  void acceptsTheRequestBeforeTheRouteAnswers() throws Exception {
    JdkEd25519.register();
    Tasks closed = Tasks.named("closed", (_, failure) -> failure.printStackTrace());
    closed.close();
    var connections =
        new Connections(
            closed,
            user -> {
              throw new IllegalStateException("no thread may ask for " + user);
            });
    try (var server = SshServer.setUpDefaultServer();
        var client = SshClient.setUpDefaultClient()) {
      server.setHost("127.0.0.1");
      server.setKeyPairProvider(KeyPairProvider.wrap(new KeyFiles(folder).hostKey()));
      server.setPasswordAuthenticator((_, _, _) -> true);
      server.setChannelFactories(ChannelKinds.of(connections));
      server.start();
      client.setServerKeyVerifier((_, _, _) -> true);
      client.start();
      CoreModuleProperties.REQUEST_EXEC_REPLY.set(client, true);

      List<String> messages = messages(client, server.getPort());

      assertEquals(List.of("accepted", "errors", "exit-status", "end of file", "close"), messages);
    }
  }

  private static List<String> messages(SshClient client, int port) throws IOException {
    try (ClientSession session =
        client.connect("devbox", "127.0.0.1", port).verify().getClientSession()) {
      session.addPasswordIdentity("any");
      session.auth().verify();
      var program = new Program();
      session.getService(ConnectionService.class).registerChannel(program);
      program.open().verify();
      program.waitFor(List.of(ClientChannelEvent.CLOSED), 0L);
      return List.copyOf(program.messages);
    }
  }

  /** Notes what it is told, in the order of the server's messages. */
  private static final class Program extends ChannelExec {
    private final List<String> messages = new CopyOnWriteArrayList<>();

    Program() {
      super("true", null, null);
    }

    @Override
    public void handleSuccess() throws IOException {
      messages.add("accepted");
      super.handleSuccess();
    }

    @Override
    protected void doWriteExtendedData(byte[] data, int offset, long length) throws IOException {
      messages.add("errors");
      super.doWriteExtendedData(data, offset, length);
    }

    @Override
    protected void handleChannelRequest(String request, boolean wantReply, Buffer buffer)
        throws IOException {
      messages.add(request);
      super.handleChannelRequest(request, wantReply, buffer);
    }

    @Override
    public void handleEof() throws IOException {
      messages.add("end of file");
      super.handleEof();
    }

    @Override
    public void handleClose() throws IOException {
      messages.add("close");
      super.handleClose();
    }
  }
}
