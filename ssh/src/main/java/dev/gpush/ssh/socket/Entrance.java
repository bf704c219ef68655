package dev.gpush.ssh.socket;

import dev.gpush.core.task.AcceptLoop;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A listening socket, and the accepted connections that are not served yet. One thread accepts
 * them, notices which of them have sent something, and serves them as {@link LoginQueue} decides;
 * only that thread uses its data. Sessions report to it.
 */
final class Entrance {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  /** Connections that the kernel queues: a tool may open hundreds at once. */
  private static final int BACKLOG = 1_024;

  /** The most that are accepted in a row, before waiting connections are checked. */
  private static final int PER_TURN = 64;

  /** Until the port is free again. */
  private static final Duration CLOSING = Duration.ofSeconds(5);

  private final ServerSocketChannel server;
  private final Selector selector;
  private final SocketAddress address;
  private final Sessions sessions;
  private final Clock clock;
  private final LoginQueue<Arrival> queue;
  private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);

  // of the thread
  private final Map<SocketSession, Arrival> served = new HashMap<>();
  private final Set<Arrival> waiting = new HashSet<>();
  private final Penalties penalties = new Penalties();
  private final AcceptLoop failures;

  /** Makes the session of a connection whose turn has come. */
  @FunctionalInterface
  interface Sessions {
    SocketSession start(SocketChannel connection, Entrance entrance) throws IOException;
  }

  /** A connection that has not logged in. */
  private static final class Arrival {
    private final SocketChannel connection;
    private Optional<SelectionKey> key = Optional.empty();
    private Optional<SocketSession> session = Optional.empty();
    private Optional<String> source = Optional.empty();
    private boolean hasFailed;

    Arrival(SocketChannel connection) {
      this.connection = connection;
    }
  }

  private Entrance(
      ServerSocketChannel server,
      Selector selector,
      Sessions sessions,
      Clock clock,
      LoginLimits limits)
      throws IOException {
    this.server = server;
    this.selector = selector;
    this.address = server.getLocalAddress();
    this.sessions = sessions;
    this.clock = clock;
    this.queue = new LoginQueue<>(limits);
    this.failures =
        new AcceptLoop(
            clock,
            failed ->
                LOG.log(System.Logger.Level.WARNING, "accepting an ssh connection failed", failed));
  }

  /** Listens; connections wait in the kernel until {@link #run}. */
  static Entrance listen(SocketAddress at, Sessions sessions, Clock clock, LoginLimits limits)
      throws IOException {
    ServerSocketChannel server = open(at);
    Optional<Entrance> made = Optional.empty();
    try {
      server.bind(at, BACKLOG);
      if (at instanceof UnixDomainSocketAddress socket) {
        // Its folder lets nobody else in, either.
        Files.setPosixFilePermissions(
            socket.getPath(), PosixFilePermissions.fromString("rw-------"));
      }
      server.configureBlocking(false);
      made = Optional.of(new Entrance(server, Selector.open(), sessions, clock, limits));
      return made.orElseThrow();
    } finally {
      if (made.isEmpty()) {
        server.close();
      }
    }
  }

  /** The file of a socket is left by a gateway that was killed; only one at a time has the home. */
  private static ServerSocketChannel open(SocketAddress at) throws IOException {
    if (at instanceof UnixDomainSocketAddress socket) {
      Files.deleteIfExists(socket.getPath());
      return ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    }
    return ServerSocketChannel.open();
  }

  SocketAddress address() {
    return address;
  }

  // ---- called by sessions, on any thread

  /** The client has sent something. */
  void talks(SocketSession session) {
    tell(
        () ->
            Optional.ofNullable(served.get(session))
                .ifPresent(arrival -> queue.talks(arrival, clock.nanos())));
  }

  /** The client has logged in. */
  void succeeds(SocketSession session) {
    tell(() -> Optional.ofNullable(served.remove(session)).ifPresent(queue::leaves));
  }

  /** A key of the client was refused; it may log in with another one. */
  void fails(SocketSession session) {
    tell(() -> Optional.ofNullable(served.get(session)).ifPresent(this::fails));
  }

  private void fails(Arrival arrival) {
    arrival.hasFailed = true;
    find(arrival);
  }

  /** The client is gone. */
  void leaves(SocketSession session) {
    tell(
        () ->
            Optional.ofNullable(served.remove(session))
                .ifPresent(
                    arrival -> {
                      queue.leaves(arrival);
                      if (arrival.hasFailed) {
                        penalize(arrival, Penalties.FAILED);
                      }
                    }));
  }

  private void penalize(Arrival arrival, Duration penalty) {
    arrival.source.ifPresent(source -> penalties.add(source, penalty, clock.nanos()));
  }

  /** While the connection is open: later, the kernel does not know whose it was. */
  private void find(Arrival arrival) {
    if (arrival.source.isEmpty()) {
      try {
        arrival.source = Optional.of(PeerUsers.of(arrival.connection.getRemoteAddress(), address));
      } catch (IOException gone) {
        LOG.log(System.Logger.Level.DEBUG, "a client is gone already", gone);
      }
    }
  }

  private void tell(Runnable event) {
    if (ended.getCount() > 0) {
      events.add(event);
      selector.wakeup();
    }
  }

  /**
   * Ends listening and closes waiting connections; sessions continue. The port is free when this
   * returns.
   */
  void close() {
    try {
      server.close();
      if (address instanceof UnixDomainSocketAddress socket) {
        Files.deleteIfExists(socket.getPath());
      }
      selector.wakeup();
      if (!ended.await(CLOSING.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.log(System.Logger.Level.WARNING, "the thread that accepts ssh connections hangs");
      }
    } catch (IOException alreadyGone) {
      LOG.log(System.Logger.Level.DEBUG, "closing a listener failed", alreadyGone);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- the thread

  void run() {
    try (selector) {
      SelectionKey arrivals = server.register(selector, SelectionKey.OP_ACCEPT);
      Optional<Long> rest = Optional.empty();
      while (server.isOpen() && !Thread.currentThread().isInterrupted()) {
        arrivals.interestOps(queue.isFull() ? 0 : SelectionKey.OP_ACCEPT);
        select(rest);
        rest = turn(arrivals);
      }
    } catch (CancelledKeyException | ClosedSelectorException closed) {
      // Closed by another thread.
    } catch (IOException broken) {
      if (server.isOpen()) {
        LOG.log(System.Logger.Level.ERROR, "listening for ssh connections broke", broken);
      }
    } finally {
      ended.countDown();
      waiting.forEach(arrival -> close(arrival.connection));
    }
  }

  private void select(Optional<Long> nanos) throws IOException {
    if (nanos.isPresent()) {
      selector.select(Duration.ofNanos(nanos.orElseThrow()).toMillis() + 1);
    } else {
      selector.select();
    }
  }

  private Optional<Long> turn(SelectionKey arrivals) throws IOException {
    for (Runnable event = events.poll(); event != null; event = events.poll()) {
      event.run();
    }
    List<SelectionKey> ready = new ArrayList<>(selector.selectedKeys());
    selector.selectedKeys().clear();
    for (SelectionKey key : ready) {
      if (key.equals(arrivals)) {
        accept();
      } else if (key.attachment() instanceof Arrival arrival && key.isValid()) {
        key.interestOps(0);
        queue.talks(arrival, clock.nanos());
      }
    }
    Optional<Long> rest = serve();
    watchThoseWhoWait();
    return rest;
  }

  private void accept() {
    try {
      SocketChannel connection = server.accept();
      for (int count = 0; connection != null; count++) {
        connection.configureBlocking(false);
        var arrival = new Arrival(connection);
        waiting.add(arrival);
        queue.arrives(arrival, isPenalized(arrival));
        connection = count < PER_TURN ? server.accept() : null;
      }
    } catch (IOException failed) {
      rest(failed);
    }
  }

  /** The kernel's table is read only if there are penalties at all. */
  private boolean isPenalized(Arrival arrival) {
    if (penalties.isEmpty()) {
      return false;
    }
    find(arrival);
    return arrival
        .source
        .filter(source -> penalties.isPenalized(source, clock.nanos()))
        .isPresent();
  }

  /** Does what is due; returns the time until there may be more. */
  private Optional<Long> serve() throws IOException {
    while (true) {
      switch (queue.next(clock.nanos())) {
        case LoginQueue.Step.Serve<Arrival>(var arrival) -> serve(arrival);
        case LoginQueue.Step.Drop<Arrival>(var arrival) -> drop(arrival);
        case LoginQueue.Step.Rest<Arrival>(var nanos) -> {
          return nanos;
        }
      }
    }
  }

  private void serve(Arrival arrival) throws IOException {
    waiting.remove(arrival);
    if (arrival.key.isPresent()) {
      arrival.key.orElseThrow().cancel();
      // Or the connection would stay open after its session has closed it.
      selector.selectNow();
    }
    try {
      SocketSession session = sessions.start(arrival.connection, this);
      arrival.session = Optional.of(session);
      served.put(session, arrival);
    } catch (IOException failed) {
      queue.leaves(arrival);
      close(arrival.connection);
      rest(failed);
    }
  }

  private void drop(Arrival arrival) {
    waiting.remove(arrival);
    if (arrival.session.isPresent()) {
      SocketSession session = arrival.session.orElseThrow();
      served.remove(session);
      find(arrival);
      penalize(arrival, Penalties.TOO_SLOW);
      session.close(true);
    } else {
      close(arrival.connection);
    }
  }

  private void watchThoseWhoWait() {
    for (Arrival arrival : waiting) {
      if (arrival.key.isEmpty()) {
        try {
          SelectionKey key = arrival.connection.register(selector, SelectionKey.OP_READ, arrival);
          arrival.key = Optional.of(key);
        } catch (IOException gone) {
          queue.leaves(arrival);
        }
      }
    }
  }

  private void rest(IOException failed) {
    try {
      failures.pauseAfter(failed);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static void close(SocketChannel connection) {
    try {
      connection.close();
    } catch (IOException alreadyGone) {
      LOG.log(System.Logger.Level.DEBUG, "closing a connection failed", alreadyGone);
    }
  }
}
