package dev.gpush.control.server;

import dev.gpush.control.wire.Greeting;
import dev.gpush.control.wire.Refusal;
import dev.gpush.core.task.AcceptLoop;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import jdk.net.ExtendedSocketOptions;

/**
 * Listens on the control socket and serves each connection on its own threads. Only this user may
 * have access to the socket's folder; the peer's user is checked too where the system provides it
 * (Linux, macOS).
 */
public final class ControlServer implements AutoCloseable {
  /** Connections that wait to be accepted: a burst of scripted commands. */
  private static final int BACKLOG = 128;

  /**
   * Commands that are just ending when the gateway does, the one that stops it among them, end by
   * themselves in this time.
   */
  static final Duration GRACE = Duration.ofMillis(300);

  /** Handlers that were interrupted have this long to end. */
  private static final Duration FAREWELL = Duration.ofSeconds(2);

  /**
   * This many more are accepted to be told that there is no room; further ones are closed at once.
   */
  private static final int TURNED_AWAY = 16;

  private final Path socket;
  private final Greeting greeting;
  private final Handler handler;
  private final Handover handover;
  private final Incidents incidents;
  private final Limits limits;
  private final Clock clock;
  private final Tasks tasks;
  private final UserPrincipal user;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile boolean handingOver;

  // guarded by lock
  private final Condition changed = lock.newCondition();
  private final List<Connection> connections = new ArrayList<>();
  private boolean ending;
  private int accepting;
  private ServerSocketChannel listening;

  public ControlServer(
      Path socket,
      Greeting greeting,
      Handler handler,
      Handover handover,
      Incidents incidents,
      Limits limits,
      Clock clock,
      Tasks tasks)
      throws IOException {
    this.socket = socket;
    this.greeting = greeting;
    this.handler = handler;
    this.handover = handover;
    this.incidents = incidents;
    this.limits = limits;
    this.clock = clock;
    this.tasks = tasks.group("control");
    this.listening = bind();
    this.user = Files.getOwner(socket);
  }

  /**
   * Starts to accept. A file that is already at the socket's path is left by a dead gateway: the
   * caller holds the gateway's lock.
   */
  public void start() {
    startToAccept(listening);
    tasks.start("look-around", this::lookAround);
  }

  /** Binds again when the socket was deleted under us, as cleaners of temporary folders do. */
  public void ensureBound() throws IOException {
    ServerSocketChannel again;
    ServerSocketChannel before;
    lock.lock();
    try {
      if (ending || Files.exists(socket)) {
        return;
      }
      again = bind();
      before = listening;
      listening = again;
    } finally {
      lock.unlock();
    }
    startToAccept(again);
    before.close();
  }

  /** Connections that keep the gateway in use: all but those that only watch. */
  public int inUse() {
    return (int) snapshot().stream().filter(connection -> !connection.isWatching()).count();
  }

  /** The refusal for one connection too many. */
  Optional<Refusal> isFull() {
    return snapshot().size() <= limits.connections()
        ? Optional.empty()
        : Optional.of(
            new Refusal(
                "the gateway accepts no more commands",
                limits.connections() + " are in progress",
                "the same command, when some have ended"));
  }

  /** Stops accepting, lets commands end, stops those that do not, and waits for them. */
  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      if (ending) {
        return;
      }
      ending = true;
    } finally {
      lock.unlock();
    }
    Files.deleteIfExists(socket);
    // Closing ends accept(). The thread in it must not be interrupted as well: JDK 25 then
    // sometimes
    // loses a connection that just came in, and its client would wait for ever.
    listening.close();
    try {
      snapshot().stream().filter(Connection::isWatching).forEach(Connection::end);
      if (!awaitNone(GRACE)) {
        snapshot().forEach(Connection::end);
        awaitNone(FAREWELL);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
    snapshot().forEach(Connection::close);
    tasks.close();
  }

  Greeting greeting() {
    return greeting;
  }

  Handler handler() {
    return handler;
  }

  Incidents incidents() {
    return incidents;
  }

  boolean isEnding() {
    lock.lock();
    try {
      return ending;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether to end for another build: the asking connection does not count. Once it has agreed it
   * agrees again: the client that read the answer may be back before this server is closed.
   */
  boolean agreesToHandOver(boolean evenInUse) {
    long using = snapshot().stream().filter(Connection::isUsing).count();
    handingOver = handingOver || evenInUse || (using <= 1 && !handover.isInUse());
    return handingOver;
  }

  void handOver() {
    handover.end("another build takes over");
  }

  private ServerSocketChannel bind() throws IOException {
    Files.deleteIfExists(socket);
    var channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(socket), BACKLOG);
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
      return channel;
    } catch (IOException failed) {
      channel.close();
      throw failed;
    }
  }

  /** Until the server ends or the socket is bound again. */
  private void accept(ServerSocketChannel from) throws InterruptedException {
    try {
      new AcceptLoop(clock, failed -> incidents.bug("accepting control connections", failed))
          .run(from::isOpen, () -> admit(from.accept()));
    } finally {
      count(-1);
    }
  }

  private void startToAccept(ServerSocketChannel from) {
    count(1);
    if (!tasks.start("accept", () -> accept(from))) {
      count(-1);
    }
  }

  private void count(int more) {
    lock.lock();
    try {
      accepting += more;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void admit(SocketChannel channel) throws IOException {
    var connection = new Connection(channel, this, tasks);
    boolean admitted = false;
    try {
      if (isEnding()) {
        return; // The next client finds the socket closed and starts another gateway.
      }
      if (!isOwnUser(channel)) {
        incidents.refused("another user's process connected");
        return;
      }
      if (!add(connection)) {
        incidents.refused("more than " + limits.connections() + " connections");
        return;
      }
      admitted = tasks.start("client", () -> serve(connection));
    } catch (IOException gone) {
      // The client left before it was turned away.
    } finally {
      if (!admitted) {
        forget(connection);
        channel.close();
      }
    }
  }

  private void serve(Connection connection) {
    try {
      connection.serve();
    } finally {
      forget(connection);
    }
  }

  private void forget(Connection connection) {
    lock.lock();
    try {
      connections.remove(connection);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private boolean add(Connection connection) {
    lock.lock();
    try {
      if (ending || connections.size() >= limits.connections() + TURNED_AWAY) {
        return false;
      }
      connections.add(connection);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean isOwnUser(SocketChannel channel) throws IOException {
    if (!channel.supportedOptions().contains(ExtendedSocketOptions.SO_PEERCRED)) {
      return true; // The folder's permissions are all there is.
    }
    // Not the owner of the socket as it is now: a cleaner may have removed it.
    return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user().equals(user);
  }

  /** Closes connections that send no request. */
  private void lookAround() {
    try {
      while (true) {
        Thread.sleep(closeSilent());
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns when the next one may be due: none that connects later is due before. */
  private Duration closeSilent() {
    Duration next = limits.greeting();
    for (Connection connection : snapshot()) {
      Duration left = limits.greeting().minusNanos(connection.silentNanos());
      if (left.isPositive()) {
        next = left.compareTo(next) < 0 ? left : next;
      } else {
        incidents.refused("a client that said nothing");
        connection.close();
      }
    }
    return next;
  }

  private List<Connection> snapshot() {
    lock.lock();
    try {
      return List.copyOf(connections);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nobody accepts and nobody is connected. */
  private boolean awaitNone(Duration limit) throws InterruptedException {
    long end = clock.nanos() + limit.toNanos();
    lock.lock();
    try {
      while (accepting > 0 || !connections.isEmpty()) {
        long left = end - clock.nanos();
        if (left <= 0) {
          return false;
        }
        changed.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
