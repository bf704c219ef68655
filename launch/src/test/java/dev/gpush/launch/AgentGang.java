package dev.gpush.launch;

import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.LinkNode;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.PipeSource;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fake.Interpreters;
import dev.gpush.testkit.fixture.AgentHeader;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Real agents in a temporary folder, one for each node, all on this machine; gone at the end. */
final class AgentGang implements AutoCloseable {
  private final Path folder;
  private final int nodes;
  private final List<String> slots;
  private final Tasks tasks = Tasks.named("gang", (thread, failure) -> failure.printStackTrace());
  private final AgentImage image;
  private final String gang = RandomHex.of(new SecureRandom(), 16);
  private final List<Link> links = new ArrayList<>();

  /** Below it each node has its recorded tree; empty: they are as this machine is. */
  private final Optional<Path> trees;

  private final String network;

  AgentGang(int nodes, List<String> slots) throws IOException, InterruptedException {
    this(nodes, slots, Optional.empty(), "");
  }

  /**
   * Agents that tell of the network of another gang.
   *
   * @param trees a folder with one folder for each node, named by its number
   * @param network what the nodes' addresses begin with
   */
  AgentGang(int nodes, List<String> slots, Optional<Path> trees, String network)
      throws IOException, InterruptedException {
    this.nodes = nodes;
    this.slots = slots;
    this.trees = trees;
    this.network = network;
    this.image =
        new AgentImage(tasks, new SecureRandom(), trees.isPresent() ? onTrees() : Map.of());
    // Short, because a socket's path has at most 107 bytes.
    folder =
        Files.createTempDirectory(
            Path.of("/tmp"),
            "gpr",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createDirectories(folder.resolve("a"));
    Files.createDirectories(folder.resolve("project"));
    for (int node = 0; node < nodes; node++) {
      Files.createDirectories(Path.of(info(node).workspace()));
    }
    connect();
  }

  /** Modules of agents that read the tree that a call names. */
  private static Map<String, String> onTrees() throws IOException {
    Path agent = Path.of("../agent");
    String gather = Files.readString(agent.resolve("gpush_agent/fabric/gather.py"));
    return Map.of(
        "fabric/recorded",
        Files.readString(agent.resolve("tests/recorded.py")),
        "fabric/gather",
        gather
            + """

            def answer(params, session, home):
                from .recorded import Recorded
                return facts(Recorded(params["root"], session, home), params["peers"])
            """);
  }

  /** New links, as a new gateway would have; the old ones are closed. */
  void connect() throws IOException, InterruptedException {
    links.forEach(Link::close);
    links.clear();
    String incarnation = RandomHex.of(new SecureRandom(), 16);
    for (int node = 0; node < nodes; node++) {
      int index = node;
      PipeSource pipes =
          () -> {
            Pipe pipe = spawn();
            image.begin(pipe, header(index).mode("start"));
            return pipe;
          };
      var identity = new LinkIdentity(index, "me@here", incarnation, 1);
      var link =
          new Link(
              identity,
              pipes,
              tasks,
              Clock.system(),
              new SecureRandom(),
              LinkTiming.usual(),
              _ -> {});
      link.connect();
      links.add(link);
    }
  }

  private NodeInfo info(int node) {
    String workspace = folder.resolve("n" + node).resolve("project").toString();
    String address = trees.isPresent() ? network + (node + 1) : "127.0.0.1";
    return new NodeInfo(node, "here", address, slots, "", 2, workspace);
  }

  Path history() {
    return folder.resolve("history");
  }

  Path project() {
    return folder.resolve("project");
  }

  /** What sync would do. */
  void put(String name, String text) throws IOException {
    write(project().resolve(name), text);
    for (int node = 0; node < nodes; node++) {
      write(onNode(node, name), text);
    }
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  Path onNode(int node, String name) {
    return Path.of(info(node).workspace()).resolve(name);
  }

  Tasks tasks() {
    return tasks;
  }

  Launcher launcher() {
    return launcher(List.of());
  }

  Launcher launcher(List<Recipe> recipes) {
    return new Launcher(site(), new FabricPlanner(() -> recipes), Clock.system(), tasks);
  }

  LaunchSite site() {
    var reached = new ArrayList<LaunchNode>();
    for (int node = 0; node < nodes; node++) {
      NodeInfo info = info(node);
      reached.add(new LaunchNode(() -> info, calls(node)));
    }
    return new LaunchSite(
        new SessionName("devbox"),
        "0123456789",
        project(),
        trees.isEmpty(),
        reached,
        folder.resolve("history"),
        Optional.empty());
  }

  NodeCalls calls(int node) {
    var real = new LinkNode(links.get(node), () -> false, tasks);
    return trees
        .<NodeCalls>map(all -> new OnTree(real, all.resolve("" + node).toString()))
        .orElse(real);
  }

  /** A node that reads a recorded tree when it is asked for the facts of its network. */
  private record OnTree(NodeCalls real, String root) implements NodeCalls {
    @Override
    public Json call(String method, Json.Obj params) throws InterruptedException {
      return real.call(method, method.equals("fabric.facts") ? params.with("root", root) : params);
    }

    @Override
    public InputStream follow(Json.Obj arguments) throws IOException, InterruptedException {
      return real.follow(arguments);
    }

    @Override
    public Answer ask(List<String> arguments, Map<String, String> environment, Duration limit)
        throws InterruptedException {
      return real.ask(arguments, environment, limit);
    }

    @Override
    public int watch(
        List<String> arguments, Map<String, String> environment, Consumer<String> lines)
        throws InterruptedException {
      return real.watch(arguments, environment, lines);
    }
  }

  private AgentHeader header(int node) {
    NodeInfo info = info(node);
    return AgentHeader.of(gang, nodes, node, folder, info.workspace(), info.state());
  }

  private Pipe spawn() throws IOException {
    return ChildPipe.start(image.arguments(Interpreters.one()));
  }

  @Override
  public void close() throws IOException {
    links.forEach(Link::close);
    try (tasks) {
      for (int node = 0; node < nodes; node++) {
        image.ask(spawn(), header(node).control(Json.object("do", "release")));
      }
    } finally {
      FolderTree.delete(folder);
    }
  }
}
