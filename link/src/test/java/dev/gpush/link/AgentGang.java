package dev.gpush.link;

import dev.gpush.core.file.RandomHex;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fixture.AgentHeader;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Real agents of one gang on this machine that know node 0 by an address. */
final class AgentGang implements AutoCloseable {
  private final Path folder;
  private final Tasks tasks = Tasks.named("gang", (thread, failure) -> failure.printStackTrace());
  private final SecureRandom random = new SecureRandom();
  private final AgentImage image = new AgentImage(tasks, random);
  private final String gang = RandomHex.of(random, 16);
  private final String incarnation = RandomHex.of(random, 16);
  private final String key = RandomHex.of(random, 32);
  private final int nodes;
  private final List<Long> agents = new ArrayList<>();
  private final Recorder<LinkState> states = new Recorder<>();

  AgentGang(int nodes) throws IOException {
    this.nodes = nodes;
    // Short, because a socket's path has at most 107 bytes.
    this.folder =
        Files.createTempDirectory(
            Path.of("/tmp"),
            "gpt",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createDirectory(folder.resolve("a"));
    Json first = start(0, "listen", Json.object("host", "127.0.0.1", "port", 0));
    long port = first.object("peers").number("port").orElseThrow();
    for (int node = 1; node < nodes; node++) {
      start(node, "node0", Json.object("host", "127.0.0.1", "port", port));
    }
  }

  private Json start(int node, String what, Json.Obj where) throws IOException {
    AgentHeader header =
        header(node).with("peers", Json.object("key", key, what, where)).with("hold_only", true);
    Json status = image.ask(spawn(), header.mode("start"));
    agents.add(status.number("pid").orElseThrow());
    return status;
  }

  private AgentHeader header(int node) {
    String workspace = folder.resolve("ws" + node).toString();
    return AgentHeader.of(gang, nodes, node, folder, workspace, workspace + ".gpush");
  }

  private ProcessPipe spawn() throws IOException {
    return ChildPipe.start(image.arguments(AgentNode.PYTHONS));
  }

  Tasks tasks() {
    return tasks;
  }

  /** Of all links. */
  Recorder<LinkState> states() {
    return states;
  }

  /** A relay of its own, as where every node has one. */
  ProcessPipe relay(int node) throws IOException {
    ProcessPipe pipe = spawn();
    image.begin(pipe, header(node).mode("attach"));
    return pipe;
  }

  Link link(int node, LinkTiming timing, PipeSource pipes) {
    var identity = new LinkIdentity(node, "me@here", incarnation, 1);
    return new Link(identity, pipes, tasks, Clock.system(), new Random(1), timing, states::add);
  }

  long agent(int node) {
    return agents.get(node);
  }

  /** What agents have written to their logs; empty when all went well. */
  String log() throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("a"))) {
      var text = new StringBuilder();
      for (Path file : files.filter(path -> path.endsWith("log")).toList()) {
        text.append(Files.readString(file));
      }
      return text.toString();
    }
  }

  /** Node 0 last, or the others would have an end that they did not ask for. */
  @Override
  public void close() throws IOException {
    try (tasks) {
      for (int node = nodes - 1; node >= 0; node--) {
        if (ProcessHandle.of(agents.get(node)).isPresent()) {
          image.ask(spawn(), header(node).control(Json.object("do", "release")));
        }
      }
    } finally {
      FolderTree.delete(folder);
    }
  }
}
