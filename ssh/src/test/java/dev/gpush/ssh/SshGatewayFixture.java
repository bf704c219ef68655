package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.connection.NodeName;
import dev.gpush.ssh.connection.PublishedSession;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.files.SshServerSettings;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A gateway on a home of its own with one session {@code devbox} of two nodes: node 0 is a real
 * agent, node 1 is not reached. Clients read the generated ssh_config.
 */
final class SshGatewayFixture implements AutoCloseable {
  private final Path folder;
  private final Tasks tasks;
  private final AgentNode node;
  private final SshGateway gateway;
  private final List<String> asked = new CopyOnWriteArrayList<>();

  SshGatewayFixture() throws IOException, InterruptedException {
    this(AgentNode::new);
  }

  /** Makes node 0. */
  @FunctionalInterface
  interface NodeMaker {
    AgentNode make(Path folder, Tasks tasks) throws IOException, InterruptedException;
  }

  SshGatewayFixture(NodeMaker maker) throws IOException, InterruptedException {
    // Short, because a socket's path has at most 107 bytes; with a space, because homes have them.
    this.folder = Files.createTempDirectory(Path.of("/tmp"), "gs ");
    this.tasks = Tasks.named("rig", (thread, failure) -> failure.printStackTrace());
    this.node = maker.make(folder.resolve("n"), tasks);
    Files.createDirectories(home());
    this.gateway = SshGateway.start(settings(), this::route, tasks, Clock.system());
    gateway.publish(List.of(new PublishedSession(new SessionName("devbox"), 2)));
  }

  private Route route(String user) {
    asked.add(user);
    return switch (NodeName.parse(user)) {
      case Optional<NodeName> name when name.isEmpty() -> unknown(user);
      case Optional<NodeName> name when !name.get().session().text().equals("devbox") ->
          unknown(user);
      case Optional<NodeName> name when name.get().node() == 0 -> node.route();
      case Optional<NodeName> name when name.get().node() == 1 ->
          new Route.Refused(new SessionFailure.NotReached("devbox", 1, "cut for 40 s"));
      case Optional<NodeName> name ->
          new Route.Refused(new SessionFailure.UnknownNode("devbox", name.get().node(), 2));
    };
  }

  private static Route unknown(String user) {
    return new Route.Refused(
        new UsageFailure.UnknownSession(user, List.of("devbox"), List.of("devbox")));
  }

  SshServerSettings settings() {
    return new SshServerSettings(
        home(),
        List.of("true"),
        folder.resolve("dot ssh/config"),
        Optional.empty(),
        Optional.empty());
  }

  Path home() {
    return folder.resolve("h");
  }

  Path folder() {
    return folder;
  }

  AgentNode node() {
    return node;
  }

  /** User names whose node was looked up. */
  List<String> asked() {
    return List.copyOf(asked);
  }

  SshGateway gateway() {
    return gateway;
  }

  /** A client that reads our config. */
  Command ssh(String... arguments) {
    return client("ssh", arguments);
  }

  /** ssh with these options, which has logged in and runs until its input ends. */
  Process forwarding(String... options) throws IOException {
    var words = new ArrayList<>(List.of(options));
    words.addAll(List.of("-o", "ExitOnForwardFailure=yes", "devbox", "echo ready; cat"));
    Process process = ssh(words.toArray(String[]::new)).start();
    assertEquals(
        "ready\n", new String(process.getInputStream().readNBytes(6), StandardCharsets.UTF_8));
    return process;
  }

  /** ssh, scp or sftp; {@code -F} is the same for all. */
  Command client(String program, String... arguments) {
    var words = new ArrayList<>(List.of(program, "-F", home().resolve("ssh_config").toString()));
    words.addAll(List.of(arguments));
    return new Command(words, folder);
  }

  @Override
  public void close() throws IOException {
    try (tasks;
        node;
        gateway) {
      // Closed in reverse.
    } finally {
      FolderTree.delete(folder);
    }
  }
}
