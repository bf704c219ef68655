package dev.gpush.ssh;

import dev.gpush.core.file.RandomHex;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkState;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.PipeSource;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.ssh.connection.Route;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fake.Interpreters;
import dev.gpush.testkit.fixture.AgentHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

/** A node in a folder: a real agent, linked. It is released at the end. */
final class AgentNode implements AutoCloseable {
  private final Path folder;
  private final Tasks tasks;
  private final AgentImage image;
  private final Json.Obj lease;
  private final String gang = RandomHex.of(new SecureRandom(), 16);
  private final Link link;
  private volatile ProcessPipe last;

  AgentNode(Path folder, Tasks tasks) throws IOException, InterruptedException {
    this(
        folder,
        tasks,
        new AgentImage(tasks, new SecureRandom()),
        Json.object("hard_s", 900, "idle_s", 900, "unclaimed_s", 120));
  }

  /** With this agent and this lease. */
  AgentNode(Path folder, Tasks tasks, AgentImage image, Json.Obj lease)
      throws IOException, InterruptedException {
    this.folder = folder;
    this.tasks = tasks;
    this.image = image;
    this.lease = lease;
    Files.createDirectories(home());
    Files.createDirectories(workspace());
    Files.createDirectories(folder.resolve("a"));
    this.link = link();
    link.connect();
  }

  Path home() {
    return folder.resolve("home");
  }

  Path workspace() {
    return folder.resolve("work space");
  }

  Route.Node route() {
    return new Route.Node(link, java.util.Map.of("GPUSH_TEST", "yes"), workspace().toString());
  }

  /** Destroys the relay process: the link is cut and comes back by itself. */
  void cut() throws IOException {
    last.close();
  }

  private AgentHeader header() {
    var environment =
        Json.object("PATH", System.getenv("PATH"), "HOME", home().toString(), "LANG", "C.UTF-8");
    return AgentHeader.of(
            gang, 1, 0, folder, workspace().toString(), folder.resolve("state").toString())
        .with("env", environment)
        .with("lease", lease);
  }

  private ProcessPipe spawn() throws IOException {
    return ChildPipe.start(image.arguments(Interpreters.one()));
  }

  private Link link() {
    var isOpened = new AtomicBoolean();
    PipeSource source =
        () -> {
          var pipe = spawn();
          boolean isFirst = !isOpened.getAndSet(true);
          image.begin(pipe, header().mode(isFirst ? "start" : "attach"));
          last = pipe;
          return pipe;
        };
    var identity = new LinkIdentity(0, "me@here", RandomHex.of(new SecureRandom(), 16), 1);
    return new Link(
        identity, source, tasks, Clock.system(), new Random(1), LinkTiming.usual(), _ -> {});
  }

  Json control(String what) throws IOException {
    return image.ask(spawn(), header().control(Json.object("do", what)));
  }

  @Override
  public void close() throws IOException {
    boolean isOver = link.state() instanceof LinkState.Over;
    link.close();
    if (!isOver) {
      control("release");
    }
  }
}
