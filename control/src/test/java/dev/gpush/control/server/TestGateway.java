package dev.gpush.control.server;

import dev.gpush.control.client.Captured;
import dev.gpush.control.client.ControlClient;
import dev.gpush.control.client.FakeConsole;
import dev.gpush.control.place.Origin;
import dev.gpush.control.place.RunFolder;
import dev.gpush.control.wire.ControlFrameReader;
import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.Greeting;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A control server on a real socket in a home of its own, and clients of it. */
final class TestGateway implements AutoCloseable, Incidents, Handover {
  static final String BUILD = "build-a";

  final List<String> incidents = new CopyOnWriteArrayList<>();
  final CountDownLatch ended = new CountDownLatch(1);
  volatile boolean inUse;

  private final Path home;
  private final RunFolder folder;
  private final Clock clock;
  private final Tasks tasks;
  private final ControlServer server;

  private TestGateway(Path home, Handler handler, Limits limits, int protocol, Clock clock)
      throws IOException {
    this.home = home.toRealPath();
    this.clock = clock;
    this.folder = RunFolder.of(this.home).make();
    this.tasks = Tasks.named("test", (thread, bug) -> incidents.add(thread.getName() + " " + bug));
    this.server =
        new ControlServer(
            folder.socket(),
            new Greeting(protocol, BUILD, this.home.toString(), 4711),
            handler,
            this,
            this,
            limits,
            clock,
            tasks);
  }

  static TestGateway with(Path home, Handler handler) throws IOException {
    return with(home, handler, Limits.STANDARD);
  }

  static TestGateway with(Path home, Handler handler, Limits limits) throws IOException {
    return new TestGateway(home, handler, limits, Greeting.PROTOCOL, Clock.system()).start();
  }

  /** Its clients have the same clock. */
  static TestGateway with(Path home, Handler handler, Clock clock) throws IOException {
    return new TestGateway(home, handler, Limits.STANDARD, Greeting.PROTOCOL, clock).start();
  }

  static TestGateway speaking(int protocol, Path home, Handler handler) throws IOException {
    return new TestGateway(home, handler, Limits.STANDARD, protocol, Clock.system()).start();
  }

  /** Its socket takes connections, and it accepts none yet. */
  static TestGateway unstarted(Path home, Handler handler) throws IOException {
    return new TestGateway(home, handler, Limits.STANDARD, Greeting.PROTOCOL, Clock.system());
  }

  TestGateway start() {
    server.start();
    return this;
  }

  ControlServer server() {
    return server;
  }

  Path socket() {
    return folder.socket();
  }

  ControlClient client() {
    return client(BUILD);
  }

  /** A client of a build; it would start a gateway with a program that is not there. */
  ControlClient client(String build) {
    return new ControlClient(
        new Origin(
            home,
            build,
            Path.of("/somewhere"),
            Map.of("GREETING", "hallo"),
            99,
            List.of("/nonexistent/gateway")),
        clock);
  }

  int run(FakeConsole console, String... words) {
    return client().run(List.of(words), console);
  }

  Captured capture(String... words) {
    return client().capture(List.of(words));
  }

  /** A connection that has greeted and then does what the test does. */
  Raw raw() throws IOException {
    Raw raw = connect();
    raw.reader().next().orElseThrow();
    return raw;
  }

  /** A connection that has not read the gateway's greeting. */
  Raw connect() throws IOException {
    var raw = new Raw(SocketChannel.open(StandardProtocolFamily.UNIX));
    raw.channel().connect(UnixDomainSocketAddress.of(folder.socket()));
    raw.writer().write(Greeting.of(BUILD, home.toString(), 1).frame());
    return raw;
  }

  record Raw(SocketChannel channel, ControlFrameReader reader, ControlFrameWriter writer)
      implements AutoCloseable {
    Raw(SocketChannel channel) {
      this(channel, new ControlFrameReader(channel), new ControlFrameWriter(channel));
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  @Override
  public void bug(String during, Throwable bug) {
    incidents.add("bug during " + during + ": " + bug.getMessage());
  }

  @Override
  public void refused(String why) {
    incidents.add("refused: " + why);
  }

  @Override
  public String log() {
    return "/the/log";
  }

  @Override
  public boolean isInUse() {
    return inUse;
  }

  @Override
  public void end(String why) {
    ended.countDown();
  }

  @Override
  public void close() throws IOException {
    server.close();
    tasks.close();
    Files.deleteIfExists(folder.startLock());
    Files.deleteIfExists(folder.lock());
    Files.deleteIfExists(folder.path());
  }
}
