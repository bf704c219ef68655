package dev.gpush.link;

import dev.gpush.core.file.RandomHex;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fake.ConnectedPipe;
import dev.gpush.testkit.fixture.AgentHeader;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/** A node in a temporary folder with a real agent, which is released at the end. */
final class AgentNode implements AutoCloseable {
  private static final int NODE = 0;

  /** A version manager's python3 is a script that takes longer than the agent needs to start. */
  static final List<String> PYTHONS = List.of("/usr/bin/python3", "python3", "python");

  private final Path folder;
  private final Tasks tasks;
  private final AgentImage image;
  private final String gang = RandomHex.of(new SecureRandom(), 16);
  private final String incarnation = RandomHex.of(new SecureRandom(), 16);
  private final Recorder<LinkState> states = new Recorder<>();
  private final Recorder<Pipe> pipes = new Recorder<>();

  /** How pipes get to the agent. */
  enum Reach {
    /** Through a process, as everywhere. */
    RELAY,
    /** Through its own socket, as on this machine. */
    STRAIGHT
  }

  AgentNode() throws IOException {
    // Short, because a socket's path has at most 107 bytes.
    folder =
        Files.createTempDirectory(
            Path.of("/tmp"),
            "gpl",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createDirectory(folder.resolve("a"));
    tasks = Tasks.named("node", (thread, failure) -> failure.printStackTrace());
    image = new AgentImage(tasks, new SecureRandom());
  }

  Path folder() {
    return folder;
  }

  AgentImage image() {
    return image;
  }

  Recorder<LinkState> states() {
    return states;
  }

  /** Relays, or connections. */
  Recorder<Pipe> pipes() {
    return pipes;
  }

  AgentHeader header() {
    return AgentHeader.of(
        gang,
        1,
        NODE,
        folder,
        folder.resolve("ws").toString(),
        folder.resolve("ws.gpush").toString());
  }

  ProcessPipe spawn() throws IOException {
    return spawn(PYTHONS);
  }

  ProcessPipe spawn(List<String> interpreters) throws IOException {
    return ChildPipe.start(image.arguments(interpreters));
  }

  Json control(Json.Obj control) throws IOException {
    return image.ask(spawn(), header().control(control));
  }

  /** For a test's own threads: they end with the node. */
  Tasks tasks() {
    return tasks;
  }

  Link link() {
    return link(incarnation, 1);
  }

  /** A link that is up, on usual terms. */
  Link connected() throws IOException, InterruptedException {
    Link link = link();
    link.connect();
    return link;
  }

  Link link(String as, long term) {
    return link(as, term, Reach.RELAY, Clock.system(), LinkTiming.usual(), pipe -> pipe);
  }

  /** A link whose pipes have faults. */
  Link link(Clock clock, LinkTiming timing, Disturbance disturbance) {
    return link(Reach.RELAY, clock, timing, disturbance);
  }

  Link link(Reach reach, Clock clock, LinkTiming timing, Disturbance disturbance) {
    return link(incarnation, 1, reach, clock, timing, disturbance);
  }

  /** What a test puts between agent and link. */
  @FunctionalInterface
  interface Disturbance {
    Pipe over(Pipe pipe) throws IOException, InterruptedException;
  }

  private Link link(
      String as, long term, Reach reach, Clock clock, LinkTiming timing, Disturbance disturbance) {
    var isOpened = new AtomicBoolean();
    PipeSource source =
        () -> {
          boolean isFirst = !isOpened.getAndSet(true);
          Pipe pipe = reach == Reach.RELAY ? relayed(isFirst) : straight(isFirst);
          pipes.add(pipe);
          return disturbance.over(pipe);
        };
    var identity = new LinkIdentity(NODE, "me@here", as, term);
    return new Link(identity, source, tasks, clock, new Random(1), timing, states::add);
  }

  private Pipe relayed(boolean isFirst) throws IOException {
    var pipe = spawn();
    image.begin(pipe, header().mode(isFirst ? "start" : "attach"));
    return pipe;
  }

  private Pipe straight(boolean isFirst) throws IOException {
    if (isFirst && socket().isEmpty()) {
      image.ask(spawn(), header().with("hold_only", true).mode("start"));
    }
    return ConnectedPipe.to(
        socket().orElseThrow(() -> new IOException("no agent's socket in " + folder)));
  }

  private Optional<Path> socket() throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("a"))) {
      return files.filter(file -> file.endsWith("agent.sock")).findFirst();
    }
  }

  /** What the agent has written to its log; empty when all went well. */
  String log() throws IOException {
    try (var files = Files.walk(folder.resolve("a"))) {
      var text = new StringBuilder();
      for (Path file : files.filter(path -> path.endsWith("log")).toList()) {
        text.append(Files.readString(file));
      }
      return text.toString();
    }
  }

  @Override
  public void close() throws IOException {
    try (tasks) {
      control(Json.object("do", "release"));
    } finally {
      delete();
    }
  }

  /** For a node whose agent is gone already. */
  void delete() throws IOException {
    FolderTree.delete(folder);
  }
}
