package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.CommandText;
import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.MarkedPipe;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.builtin.channel.CommandChannel;
import dev.gpush.backends.transport.builtin.channel.CommandPipe;
import dev.gpush.backends.transport.builtin.config.HostConfig;
import dev.gpush.backends.transport.builtin.config.SshConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import net.schmizz.sshj.connection.channel.OpenFailException;

/**
 * A machine behind connections of our own. They end with the gateway: where a person is needed, the
 * next gateway needs them again, and knows that it does.
 */
final class BuiltinMachine implements RemoteMachine {
  /** A thousand commands on one machine are a mistake. */
  private static final int CONNECTIONS = 32;

  /** A server or bastion that has too many logins under way drops some without a word. */
  private static final int TRIES = 5;

  private static final int MOST_PAUSE_MILLIS = 700;

  private final Destination destination;
  private final String login;
  private final String reason;
  private final SshConfig configs;
  private final Way way;
  private final Supplier<Dialer> dialer;
  private final Path personal;
  private final Semaphore logins;
  private final SecureRandom random;
  private final Tasks tasks;

  /** Only who holds it opens connections. */
  private final ReentrantLock opening = new ReentrantLock();

  private final List<SshConnection> wires = new CopyOnWriteArrayList<>();
  private volatile Optional<MachineFailure> closed = Optional.empty();

  /** The host that a connection to this one goes through, by its configuration. */
  @FunctionalInterface
  interface Way {
    Optional<BuiltinMachine> to(HostConfig config);
  }

  BuiltinMachine(
      Destination destination,
      String login,
      String reason,
      SshConfig configs,
      Way way,
      Supplier<Dialer> dialer,
      Path personal,
      Semaphore logins,
      SecureRandom random,
      Tasks tasks) {
    this.destination = destination;
    this.login = login;
    this.reason = reason;
    this.configs = configs;
    this.way = way;
    this.dialer = dialer;
    this.personal = personal;
    this.logins = logins;
    this.random = random;
    this.tasks = tasks;
  }

  @Override
  public String name() {
    return destination.toString();
  }

  @Override
  public String explain() {
    return "builtin: " + reason;
  }

  @Override
  public Optional<MachineFailure> closed() {
    return closed;
  }

  @Override
  public Pipe spawn(List<String> arguments) throws IOException {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    String marker = HexFormat.of().formatHex(bytes);
    Started started = started(CommandText.of(marker, arguments));
    var pipe = new CommandPipe(started.channel(), tasks);
    return new MarkedPipe(pipe, marker, started.wire()::giveBack);
  }

  private record Started(CommandChannel channel, SshConnection wire) {}

  /** Connections that are full or dead, though they did not seem so, are passed over. */
  private Started started(String command) throws IOException {
    for (int attempt = 1; ; attempt++) {
      SshConnection wire = wire();
      boolean isStarted = false;
      try {
        CommandChannel channel = uninterrupted(() -> wire.start(command));
        isStarted = true;
        return new Started(channel, wire);
      } catch (OpenFailException full) {
        if (attempt == CONNECTIONS || !wire.isShared()) {
          throw new IOException(name() + " runs no command: " + ConnectTrouble.reason(full), full);
        }
        wire.isFull();
      } catch (InterruptedIOException stop) {
        throw stop;
      } catch (IOException broken) {
        if (attempt == TRIES || wire.isAlive()) {
          throw broken;
        }
      } finally {
        if (!isStarted) {
          wire.giveBack();
        }
      }
    }
  }

  /**
   * Opens a channel on a thread of its own: one that is interrupted in the midst of it would leave
   * a command on the server that nobody has.
   */
  private CommandChannel uninterrupted(Start start) throws IOException {
    var isUnwanted = new AtomicBoolean();
    Task<CommandChannel, IOException> opened =
        tasks.fork(
            "ssh-command",
            () -> {
              CommandChannel channel = start.start();
              if (isUnwanted.get()) {
                channel.sayEnd();
              }
              return channel;
            });
    try {
      return opened.get();
    } catch (InterruptedException stop) {
      isUnwanted.set(true);
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted on the way").initCause(stop);
    }
  }

  @FunctionalInterface
  private interface Start {
    CommandChannel start() throws IOException;
  }

  /** A connection with room, one command taken. */
  private SshConnection wire() throws IOException {
    Optional<SshConnection> ready = ready();
    if (ready.isPresent()) {
      return ready.get();
    }
    try {
      opening.lockInterruptibly();
      try {
        Optional<SshConnection> meanwhile = ready();
        return meanwhile.isPresent() ? meanwhile.get() : opened(true);
      } finally {
        opening.unlock();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("interrupted on the way").initCause(stop);
    }
  }

  private Optional<SshConnection> ready() {
    return wires.stream().filter(SshConnection::isAlive).filter(SshConnection::take).findFirst();
  }

  /** Whoever calls holds {@link #opening}; taken: with one command on it. */
  private SshConnection opened(boolean isTaken) throws IOException, InterruptedException {
    wires.removeIf(wire -> !wire.isAlive());
    if (wires.size() == CONNECTIONS) {
      throw new IOException("too many commands at once on " + name());
    }
    if (!wires.isEmpty() && Files.exists(personal)) {
      throw new IOException(
          name() + " takes no more commands on one connection, and another would need you");
    }
    refuseWithoutPerson();
    SshConnection wire = dialAlone();
    if (isTaken && !wire.take()) {
      throw new IOException("a new connection to " + name() + " has no room");
    }
    wires.add(wire);
    closed = Optional.empty();
    return wire;
  }

  /** Once a person was needed nothing is tried without one: it could ring their telephone. */
  private void refuseWithoutPerson() {
    if (closed.isEmpty() && Files.exists(personal)) {
      closed = Optional.of(new MachineFailure.NeedsYou(name(), login, "what you gave before"));
    }
    closed
        .filter(BuiltinMachine::wantsPerson)
        .ifPresent(
            failure -> {
              throw new GpushException(failure);
            });
  }

  private static boolean wantsPerson(MachineFailure failure) {
    return failure instanceof MachineFailure.NeedsYou
        || failure instanceof MachineFailure.KeyRefused;
  }

  private SshConnection dialAlone() throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        return dial(Optional.empty()).wire();
      } catch (GpushException failed) {
        throw fail(failed);
      } catch (IOException failed) {
        if (attempt == TRIES || !ConnectTrouble.isTurnedAway(failed)) {
          throw fail(new GpushException(ConnectTrouble.of(name(), failed), failed));
        }
        Thread.sleep(1L + random.nextInt(MOST_PAUSE_MILLIS));
      }
    }
  }

  private GpushException fail(GpushException failed) throws IOException {
    if (failed.failure() instanceof MachineFailure failure && !failure.mayPass()) {
      closed = Optional.of(failure);
      if (failure instanceof MachineFailure.NeedsYou) {
        remember();
      }
    }
    return failed;
  }

  /** The next gateway must know it too. */
  private void remember() throws IOException {
    Path folder = personal.getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.write(personal, new byte[0]);
  }

  private Dialer.Dialed dial(Optional<Person> person) throws IOException, InterruptedException {
    HostConfig config = configs.of(destination);
    if (config.wantsProgram()) {
      throw new GpushException(
          new MachineFailure.ProxyFailed(
              name(), "ProxyCommand needs an ssh program: transport: openssh"));
    }
    Optional<BuiltinMachine> between = way.to(config);
    Optional<SshConnection> via = Optional.empty();
    if (between.isPresent()) {
      via = Optional.of(between.get().bridge(name(), person));
    }
    logins.acquire();
    try {
      return dialer.get().dial(config, login, via, person);
    } finally {
      logins.release();
    }
  }

  /** A connection for ways through this host; what passes is told as the far host's. */
  private SshConnection bridge(String far, Optional<Person> person)
      throws IOException, InterruptedException {
    if (opening.isHeldByCurrentThread()) {
      throw new GpushException(
          new MachineFailure.ProxyFailed(far, "ProxyJump goes in a circle at " + name()));
    }
    if (person.isPresent()) {
      open(person.get());
    }
    opening.lockInterruptibly();
    try {
      for (SshConnection wire : wires) {
        if (wire.isAlive()) {
          return wire;
        }
      }
      return opened(false);
    } catch (GpushException failed) {
      if (failed.failure() instanceof MachineFailure failure && failure.mayPass()) {
        throw new GpushException(
            new MachineFailure.ProxyFailed(far, name() + ": " + ConnectTrouble.reason(failed)),
            failed);
      }
      throw failed;
    } finally {
      opening.unlock();
    }
  }

  @Override
  public void open(Person person) throws InterruptedException {
    opening.lockInterruptibly();
    try {
      if (wires.stream().anyMatch(SshConnection::isAlive)) {
        closed = Optional.empty();
        return;
      }
      Dialer.Dialed dialed = dial(Optional.of(person));
      wires.add(dialed.wire());
      closed = Optional.empty();
      if (dialed.isPersonal()) {
        remember();
      } else {
        Files.deleteIfExists(personal);
      }
    } catch (IOException failed) {
      throw new GpushException(ConnectTrouble.of(name(), failed), failed);
    } finally {
      opening.unlock();
    }
  }

  boolean end() throws InterruptedException {
    for (SshConnection wire : wires) {
      wire.end();
    }
    return true;
  }
}
