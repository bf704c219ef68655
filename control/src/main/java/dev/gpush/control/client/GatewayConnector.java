package dev.gpush.control.client;

import dev.gpush.control.client.terminal.Console;
import dev.gpush.control.place.GatewayLock;
import dev.gpush.control.place.Origin;
import dev.gpush.control.place.RunFolder;
import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlFrameReader;
import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.Greeting;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Refusal;
import dev.gpush.core.failure.ExitStatus;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Connects to the gateway of a home, starts it when there is none, and agrees with one of another
 * build who runs.
 */
final class GatewayConnector {
  /**
   * A JVM takes a second, on a full and cold machine half a minute and more (measured at load 28);
   * one that takes longer will not start.
   */
  static final long START_SECONDS = 120;

  /** A gateway that ends has five seconds, and the machine may be busy. */
  private static final long END_NANOS = 30_000_000_000L;

  /** A gateway greets at once; one that is silent for this long hangs or is stopped. */
  static final long GREETING_MILLIS = 10_000;

  private static final long POLL_MILLIS = 10;

  /** More hand-overs than this within one command mean that two builds replace each other. */
  private static final int HANDOVERS = 3;

  /** How its lock file names a process; see {@link GatewayLock}. */
  private static final Pattern PID = Pattern.compile("pid=(\\d+)");

  private final Origin origin;
  private final long greetingMillis;
  private final long startSeconds;

  GatewayConnector(Origin origin, long greetingMillis, long startSeconds) {
    this.origin = origin;
    this.greetingMillis = greetingMillis;
    this.startSeconds = startSeconds;
  }

  /** A connection to a running gateway with the same protocol, or to one started now. */
  GatewayConnection enter(Console console) throws ClientException {
    var asked = new HashSet<Long>();
    long end = System.nanoTime() + END_NANOS;
    while (asked.size() <= HANDOVERS && System.nanoTime() - end < 0) {
      Optional<GatewayConnection> running = find();
      GatewayConnection connection = running.isPresent() ? running.get() : start(console);
      if (isOurBuild(connection)) {
        return connection;
      }
      if (!handOver(connection, false)) {
        GatewayConnection other = understood(connection);
        ControlClient.say(
            console,
            "gpush: the gateway (pid "
                + other.greeting().pid()
                + ") is another build and in use; using it until gpush gateway stop\n");
        return other;
      }
      connection.close();
      if (!asked.add(connection.greeting().pid())) {
        pause(); // The same again: it still accepts.
      }
    }
    throw ClientException.environment(
        "the gateway of " + origin.home() + " keeps changing its build",
        "two installations of gpush replace each other's gateway",
        "set GPUSH_HOME to another folder for one of them");
  }

  /** The running gateway, if there is one. */
  Optional<GatewayConnection> find() throws ClientException {
    Path socket = folder().socket();
    SocketChannel channel;
    try {
      channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    } catch (IOException noSockets) {
      throw cannotReach(noSockets);
    }
    // Also limits connecting: a suspended gateway accepts no connection, and its backlog is
    // limited.
    var watchdog = new Watchdog(channel, greetingMillis);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException absent) {
      watchdog.done();
      closeQuietly(channel);
      if (watchdog.hasBitten()) {
        throw silent();
      }
      return Optional.empty(); // No socket, or a dead one that the next gateway replaces.
    }
    return greet(channel, watchdog);
  }

  /** Whether this gateway can carry out our requests. */
  boolean speaksOurs(GatewayConnection connection) {
    return connection.greeting().protocol() == Greeting.PROTOCOL;
  }

  /** Uses this gateway, whatever its build, if its protocol is the same. */
  GatewayConnection understood(GatewayConnection connection) throws ClientException {
    if (speaksOurs(connection)) {
      return connection;
    }
    Greeting other = connection.greeting();
    connection.close();
    throw ClientException.environment(
        "the gateway uses another protocol than this gpush",
        "process %d is another build (%s, protocol %d; this is %s, protocol %d) and in use"
            .formatted(
                other.pid(), other.build(), other.protocol(), origin.build(), Greeting.PROTOCOL),
        "gpush gateway stop    # sessions and runs on the nodes continue");
  }

  /**
   * Asks the gateway to end for this build; it agrees when no other command is in progress, or when
   * it must.
   */
  boolean handOver(GatewayConnection connection, boolean evenInUse) throws ClientException {
    try {
      connection.writer().write(new Payload().flag(evenInUse).frame(Kind.HANDOVER));
      Optional<ControlFrame> answer = connection.reader().next();
      // A gateway that ends while we ask has agreed.
      return answer.isEmpty()
          || answer.get().kind() != Kind.HANDED_OVER
          || answer.get().fields().flag();
    } catch (IOException cut) {
      return true;
    }
  }

  /** The end of the gateway that runs now; asked for before the gateway is told to end. */
  GatewayEnd watchEnd() throws ClientException {
    return GatewayEnd.of(folder().lock());
  }

  /** Waits until the gateway's process has released its lock. */
  void await(GatewayEnd ended) throws ClientException {
    long end = System.nanoTime() + END_NANOS;
    while (!ended.isReached()) {
      if (System.nanoTime() - end > 0) {
        Path lock = folder().lock();
        throw ClientException.environment(
            "the gateway does not end",
            "it still holds " + lock + " (" + holder(lock) + ")",
            "kill -9 its process, then gpush ps");
      }
      pause();
    }
  }

  /** Removes the files that a killed gateway left in the run folder. */
  void clear() throws ClientException {
    RunFolder folder = folder();
    if (!Files.isDirectory(folder.path())) {
      return;
    }
    try {
      Optional<GatewayLock> lock = GatewayLock.tryTake(folder, "nobody");
      if (lock.isPresent()) {
        try (GatewayLock _ = lock.get()) {
          Files.deleteIfExists(folder.socket());
        }
      }
    } catch (IOException kept) {
      // The next gateway takes it over.
    }
  }

  private GatewayConnection start(Console console) throws ClientException {
    boolean isUp = false;
    try {
      GatewayConnection connection = startInTime(console);
      isUp = true;
      return connection;
    } finally {
      if (!isUp) {
        clear();
      }
    }
  }

  private GatewayConnection startInTime(Console console) throws ClientException {
    RunFolder folder = folder();
    long end = System.nanoTime() + startSeconds * 1_000_000_000L;
    while (true) {
      try {
        return start(console, folder, end);
      } catch (NoSuchFileException removed) {
        // A gateway that ends removes the folder; if that repeats, the disk is the cause.
        if (System.nanoTime() - end > 0) {
          throw unusable(folder, removed);
        }
        pause();
      } catch (IOException broken) {
        throw unusable(folder, broken);
      }
    }
  }

  private GatewayConnection start(Console console, RunFolder folder, long end)
      throws ClientException, IOException {
    try (var progress = new Progress(console, "starting the gateway")) {
      makeHome(folder);
      try (FileChannel file = open(folder.startLock())) {
        FileLock turn = null;
        try {
          while (true) {
            Optional<GatewayConnection> connection = find();
            if (connection.isPresent()) {
              return connection.get();
            }
            if (turn == null) {
              turn = tryLock(file).orElse(null);
              if (turn != null) {
                continue; // Whoever had the turn before us may have started it.
              }
            } else {
              return launch(end, progress);
            }
            if (System.nanoTime() - end > 0) {
              throw tooSlow();
            }
            progress.tick();
            pause();
          }
        } finally {
          if (turn != null) {
            turn.release();
          }
        }
      }
    }
  }

  private ClientException unusable(RunFolder folder, IOException why) {
    return ClientException.environment(
        "cannot start the gateway",
        ClientException.reason(why),
        "check the owner and the free space of " + origin.home() + " and " + folder.path());
  }

  private GatewayConnection launch(long end, Progress progress)
      throws ClientException, IOException {
    GatewayLaunch launch = GatewayLaunch.start(origin);
    while (true) {
      Optional<GatewayConnection> connection = find();
      if (connection.isPresent()) {
        return connection.get();
      }
      if (launch.foundAnother()) {
        launch = GatewayLaunch.start(origin); // Which was just ending.
      }
      if (launch.hasFailed()) {
        throw launch.failure();
      }
      if (System.nanoTime() - end > 0) {
        throw tooSlow();
      }
      progress.tick();
      pause();
    }
  }

  private Optional<GatewayConnection> greet(SocketChannel channel, Watchdog watchdog)
      throws ClientException {
    var reader = new ControlFrameReader(channel);
    var writer = new ControlFrameWriter(channel);
    boolean greeted = false;
    try {
      writer.write(Greeting.of(origin.build(), origin.home().toString(), origin.pid()).frame());
      Optional<ControlFrame> first = reader.next();
      if (first.isEmpty()) {
        return Optional.empty(); // It is just ending.
      }
      if (first.get().kind() == Kind.REFUSED) {
        throw ClientException.refused(Refusal.of(first.get()));
      }
      var connection = new GatewayConnection(channel, reader, writer, Greeting.of(first.get()));
      checkHome(connection.greeting());
      greeted = true;
      return Optional.of(connection);
    } catch (IOException cut) {
      if (watchdog.hasBitten()) {
        throw silent();
      }
      return Optional.empty();
    } finally {
      watchdog.done();
      if (!greeted) {
        closeQuietly(channel);
      }
    }
  }

  private void checkHome(Greeting greeting) throws ClientException {
    if (!greeting.home().equals(origin.home().toString())) {
      throw ClientException.environment(
          "the gateway found belongs to another home",
          "it serves " + greeting.home() + " and this is " + origin.home(),
          "move one of the two homes");
    }
  }

  private boolean isOurBuild(GatewayConnection connection) {
    return connection.greeting().build().equals(origin.build()) && speaksOurs(connection);
  }

  private void makeHome(RunFolder folder) throws ClientException, IOException {
    try {
      GatewayLaunch.makeHome(origin.home());
    } catch (IOException unusable) {
      throw ClientException.environment(
          "the home folder cannot be used",
          ClientException.reason(unusable),
          "set GPUSH_HOME to a folder of your own");
    }
    folder.make();
  }

  private RunFolder folder() throws ClientException {
    try {
      return RunFolder.of(origin.home());
    } catch (IOException none) {
      throw cannotReach(none);
    }
  }

  private ClientException silent() throws ClientException {
    String holder = holder(folder().lock());
    Matcher named = PID.matcher(holder);
    String pid = named.find() ? named.group(1) : "PID";
    return ClientException.environment(
        "the gateway does not answer",
        "its process hangs or is suspended (" + holder + ")",
        "kill -CONT %s; gpush ps    # or kill -9 %s: sessions and runs continue without it"
            .formatted(pid, pid));
  }

  private ClientException tooSlow() {
    return ClientException.environment(
        "the gateway did not start",
        "it was not ready after " + startSeconds + " s",
        "less " + GatewayLaunch.log(origin.home()));
  }

  private static ClientException cannotReach(IOException why) {
    return ClientException.environment(
        "cannot reach the gateway", ClientException.reason(why), "check that /tmp can be written");
  }

  private static String holder(Path lock) {
    try {
      return Files.readString(lock).strip();
    } catch (IOException unreadable) {
      return "pid unknown";
    }
  }

  private static FileChannel open(Path lock) throws IOException {
    return FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  private static Optional<FileLock> tryLock(FileChannel file) throws IOException {
    try {
      return Optional.ofNullable(file.tryLock());
    } catch (OverlappingFileLockException heldByThisProcess) {
      return Optional.empty();
    }
  }

  private static void pause() throws ClientException {
    try {
      Thread.sleep(POLL_MILLIS);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new ClientException(
          "interrupted",
          "you pressed Ctrl-C while gpush waited for the gateway",
          "the same command again",
          ExitStatus.INTERRUPTED);
    }
  }

  private static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException closedAnyway) {
      // Nothing was sent over it, so nothing is lost.
    }
  }
}
