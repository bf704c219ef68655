package dev.gpush.backends.transport;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A machine behind the user's ssh.
 *
 * <p>A server takes ten commands a connection (MaxSessions), so beyond {@link #COMMANDS} another
 * connection is opened, except where a person would be asked for it. Logging in with a person is
 * done in their terminal, by an ssh of their own that leaves the shared connection behind: no
 * secret passes through us, and prompts are ssh's own.
 */
final class OpenSshMachine implements RemoteMachine {
  /** On one connection; the rest is for those who come while others go. */
  private static final int COMMANDS = 8;

  /** A thousand commands on one machine are a mistake. */
  private static final int CONNECTIONS = 32;

  /** A server or bastion that has too many logins under way drops some without a word. */
  private static final int TRIES = 5;

  private static final int MOST_PAUSE_MILLIS = 700;

  private static final int MOST_SAID = 64 * 1024;

  private static final Duration END_LIMIT = Duration.ofSeconds(3);

  private final Destination destination;
  private final String login;
  private final SshCommands commands;
  private final Sockets sockets;
  private final SshSettings settings;
  private final Launch launch;
  private final Semaphore logins;
  private final SecureRandom random;
  private final Tasks tasks;

  /** Only who holds it opens connections. */
  private final ReentrantLock opening = new ReentrantLock();

  private final List<Master> masters = new CopyOnWriteArrayList<>();
  private volatile Optional<MachineFailure> closed = Optional.empty();
  private volatile String hostName = "";

  /** Where the socket of a connection is, in a folder that is there. */
  @FunctionalInterface
  interface Sockets {
    Path path(Destination destination, int number) throws IOException;
  }

  OpenSshMachine(
      Destination destination,
      String login,
      SshCommands commands,
      Sockets sockets,
      SshSettings settings,
      Launch launch,
      Semaphore logins,
      SecureRandom random,
      Tasks tasks) {
    this.destination = destination;
    this.login = login;
    this.commands = commands;
    this.sockets = sockets;
    this.settings = settings;
    this.launch = launch;
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
    return "openssh: your own ssh and its configuration";
  }

  @Override
  public Optional<MachineFailure> closed() {
    return closed;
  }

  @Override
  public Pipe spawn(List<String> arguments) throws IOException {
    String marker = HexFormat.of().formatHex(bytes());
    String command = CommandText.of(marker, arguments);
    Master master = master();
    boolean isStarted = false;
    try {
      Pipe pipe = launch.start(commands.run(master.socket(), command), commands.alone());
      isStarted = true;
      return new MarkedPipe(pipe, marker, master::giveBack);
    } finally {
      if (!isStarted) {
        master.giveBack();
      }
    }
  }

  private byte[] bytes() {
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    return bytes;
  }

  /** A connection with room, one command taken. */
  private Master master() throws IOException {
    Optional<Master> ready = ready();
    if (ready.isPresent()) {
      return ready.get();
    }
    try {
      opening.lockInterruptibly();
      try {
        Optional<Master> meanwhile = ready();
        return meanwhile.isPresent() ? meanwhile.get() : opened();
      } finally {
        opening.unlock();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted on the way to " + name());
    }
  }

  private Optional<Master> ready() {
    int most = isPersonal() ? Integer.MAX_VALUE : COMMANDS;
    return masters.stream().filter(Master::isAlive).filter(master -> master.take(most)).findFirst();
  }

  /** Whoever calls holds {@link #opening}. */
  private Master opened() throws IOException, InterruptedException {
    Master master = next();
    boolean isAlive = master.isAlive();
    if (!isAlive) {
      refuseWithoutPerson();
      openAlone(master);
    }
    closed = Optional.empty();
    if (!master.take(COMMANDS)) {
      throw new IOException("a new connection to " + name() + " has no room");
    }
    return master;
  }

  /** The first connection that is not there, or a further one. */
  private Master next() throws IOException {
    for (Master master : masters) {
      if (!master.isAlive()) {
        return master;
      }
    }
    if (masters.size() == CONNECTIONS) {
      throw new IOException("too many commands at once on " + name());
    }
    var master = new Master(sockets.path(destination, masters.size()));
    masters.add(master);
    return master;
  }

  /** Once a person was needed nothing is tried without one: it could ring their telephone. */
  private void refuseWithoutPerson() throws IOException {
    if (closed.isEmpty() && Files.exists(personal())) {
      closed = Optional.of(new MachineFailure.NeedsYou(name(), login, "what you gave before"));
    }
    closed
        .filter(OpenSshMachine::wantsPerson)
        .ifPresent(
            failure -> {
              throw new GpushException(failure);
            });
  }

  private static boolean wantsPerson(MachineFailure failure) {
    return failure instanceof MachineFailure.NeedsYou
        || failure instanceof MachineFailure.KeyRefused;
  }

  /** Exists where a person had to log in: the next gateway must know it too. */
  private Path personal() throws IOException {
    Path first = sockets.path(destination, 0);
    return first.resolveSibling(first.getFileName() + ".person");
  }

  private boolean isPersonal() {
    try {
      return Files.exists(personal());
    } catch (IOException noFolder) {
      return false;
    }
  }

  private void openAlone(Master master) throws IOException, InterruptedException {
    logins.acquire();
    try {
      for (int attempt = 1; ; attempt++) {
        master.clear();
        Said said = run(commands.open(master.socket(), hostKeys(false)), loginLimit());
        if (said.status() == 0 && master.isAlive()) {
          return;
        }
        if (attempt == TRIES || !said.errors().contains("kex_exchange_identification")) {
          fail(Diagnosis.of(name(), login, said.errors()));
        }
        Thread.sleep(1L + random.nextInt(MOST_PAUSE_MILLIS));
      }
    } finally {
      logins.release();
    }
  }

  private void fail(MachineFailure failure) throws IOException {
    if (!failure.mayPass()) {
      closed = Optional.of(failure);
    }
    if (failure instanceof MachineFailure.NeedsYou) {
      Files.write(personal(), new byte[0]);
    }
    throw new GpushException(failure);
  }

  @Override
  public void open(Person person) throws InterruptedException {
    opening.lockInterruptibly();
    try {
      Master master = masters.isEmpty() ? next() : masters.getFirst();
      if (master.isAlive()) {
        closed = Optional.empty();
        return;
      }
      if (closed.isEmpty() && !isPersonal() && openedAlone(master)) {
        return;
      }
      openWith(person, master);
      closed = Optional.empty();
    } catch (IOException failed) {
      throw broken(failed);
    } finally {
      opening.unlock();
    }
  }

  /** False when a person is needed. */
  private boolean openedAlone(Master master) throws IOException, InterruptedException {
    try {
      openAlone(master);
      return true;
    } catch (GpushException failed) {
      if (failed.failure() instanceof MachineFailure.NeedsYou
          || failed.failure() instanceof MachineFailure.KeyRefused
          || failed.failure() instanceof MachineFailure.HostKeyUnknown) {
        return false;
      }
      throw failed;
    }
  }

  private void openWith(Person person, Master master) throws IOException, InterruptedException {
    master.clear();
    List<String> command = commands.openWithPerson(master.socket(), hostKeys(true));
    int status = person.run(command, Map.of());
    if (status == 127) {
      throw new GpushException(new MachineFailure.NoSsh(name(), settings.program()));
    }
    if (status != 0 || !master.isAlive()) {
      throw new GpushException(
          new MachineFailure.Broken(
              name(), "ssh ended with status " + status + "; what it said is above"));
    }
  }

  private GpushException broken(IOException failed) {
    return new GpushException(
        new MachineFailure.Broken(name(), Diagnosis.clean(String.valueOf(failed.getMessage()))),
        failed);
  }

  /**
   * How strictly the host's key is looked at: never less than that a changed one stops us, whatever
   * the configuration says.
   */
  private String hostKeys(boolean withPerson) throws IOException, InterruptedException {
    Said said = run(commands.effective(), loginLimit());
    if (said.status() != 0) {
      throw new GpushException(Diagnosis.of(name(), login, said.errors()));
    }
    hostName = value(said.output(), "hostname");
    return switch (value(said.output(), "stricthostkeychecking")) {
      case "accept-new", "false", "no", "off" -> "accept-new";
      case "ask" -> withPerson ? "ask" : "yes";
      default -> "yes";
    };
  }

  private static String value(String effective, String key) {
    return effective
        .lines()
        .filter(line -> line.startsWith(key + " "))
        .findFirst()
        .map(line -> line.substring(key.length() + 1))
        .orElse("");
  }

  /** The address that ssh's configuration gives it; empty before the first connection. */
  String hostName() {
    return hostName;
  }

  private Duration loginLimit() {
    return settings.connectLimit().multipliedBy(2).plusSeconds(5);
  }

  private record Said(int status, String output, String errors) {}

  private Said run(List<String> command, Duration limit) throws IOException, InterruptedException {
    try (Pipe pipe = launch.start(command, commands.alone())) {
      pipe.input().close();
      return tasks.within(limit, "ssh-" + name(), () -> said(pipe), pipe::close);
    } catch (TimeoutException hangs) {
      String reason = "Connection timed out: no login within " + DurationText.of(limit);
      return new Said(255, "", reason);
    } catch (NoSuchFileException noProgram) {
      throw new GpushException(new MachineFailure.NoSsh(name(), settings.program()), noProgram);
    }
  }

  /** Its end first: an ssh in the background may hold the streams open for as long as it lives. */
  private static Said said(Pipe pipe) throws IOException, InterruptedException {
    int status = pipe.await();
    String output = new String(pipe.output().readNBytes(MOST_SAID), StandardCharsets.UTF_8);
    String errors = new String(pipe.errors().readNBytes(MOST_SAID), StandardCharsets.UTF_8);
    return new Said(status, output, errors);
  }

  /** Ends the connections that no person was needed for. */
  boolean end() throws IOException, InterruptedException {
    if (!isPersonal()) {
      for (Master master : masters) {
        if (master.isAlive()) {
          run(commands.close(master.socket()), END_LIMIT);
        }
        master.clear();
      }
    }
    return true;
  }
}
