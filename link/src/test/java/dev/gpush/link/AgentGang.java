package dev.gpush.link;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Real agents of one gang on this machine that know node 0 by an address. */
final class AgentGang implements AutoCloseable {
  private final Path folder;
  private final Tasks tasks = Tasks.named("gang", (thread, failure) -> failure.printStackTrace());
  private final SecureRandom random = new SecureRandom();
  private final AgentImage image = new AgentImage(tasks, random);
  private final String gang = hex(16);
  private final String incarnation = hex(16);
  private final String key = hex(32);
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

  private String hex(int size) {
    var bytes = new byte[size];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private Json start(int node, String what, Json.Obj where) throws IOException {
    Json.Obj start =
        place(node).with("peers", Json.object("key", key, what, where)).with("hold_only", true);
    Json status = image.ask(spawn(), header("start", node).with("start", start));
    agents.add(status.number("pid").orElseThrow());
    return status;
  }

  private Json.Obj place(int node) {
    return Json.object(
        "owner", "me",
        "holder", "me@here",
        "nodes", nodes,
        "name", "devbox",
        "folder", List.of(folder.resolve("a").toString()),
        "workspace", folder.resolve("ws" + node).toString(),
        "state", folder.resolve("ws" + node + ".gpush").toString(),
        "env",
            Json.object(
                "PATH", System.getenv("PATH"), "HOME", folder.toString(), "LANG", "C.UTF-8"),
        "lease", Json.object("hard_s", 300, "idle_s", 300, "unclaimed_s", 120),
        "request", Json.object("gpus", 0));
  }

  private Json.Obj header(String mode, int node) {
    return Json.object(
        "mode", mode,
        "gang", gang,
        "node", node,
        "interpreters", AgentNode.PYTHONS,
        "start", place(node));
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
    image.begin(pipe, header("attach", node));
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
          image.ask(spawn(), header("control", node).with("control", Json.object("do", "release")));
        }
      }
    } finally {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      }
    }
  }
}
