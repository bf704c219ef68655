package dev.gpush.backends.transport;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.text.CleanText;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A machine behind shared connections. A server takes ten commands a connection (MaxSessions), so
 * beyond {@link #COMMANDS} another connection is opened, except where the user would be asked for
 * it.
 */
final class SshMachine implements RemoteMachine {
  /** On one connection; the rest is for commands that start while others end. */
  private static final int COMMANDS = 8;

  /** A thousand commands on one machine are a mistake. */
  private static final int CONNECTIONS = 32;

  /** How often a login is tried that the server dropped without a reason. */
  private static final int TRIES = 5;

  private static final int MOST_PAUSE_MILLIS = 700;

  private static final int MOST_REASON = 300;

  private final Destination destination;
  private final String login;
  private final SshClient client;
  private final ConnectionFiles files;
  private final Semaphore logins;
  private final SecureRandom random;

  /** Only the thread that holds it opens connections. */
  private final ReentrantLock opening = new ReentrantLock();

  private final List<Slot> slots = new CopyOnWriteArrayList<>();
  private volatile Optional<MachineFailure> closed = Optional.empty();

  SshMachine(
      Destination destination,
      String login,
      SshClient client,
      ConnectionFiles files,
      Semaphore logins,
      SecureRandom random) {
    this.destination = destination;
    this.login = login;
    this.client = client;
    this.files = files;
    this.logins = logins;
    this.random = random;
  }

  /** A connection since it was opened, and how many commands are on it. */
  private static final class Slot {
    private final SharedConnection connection;
    private final Object lock = new Object();
    // guarded by lock: commands that have not been closed, and how many the server takes
    private int used;
    private int most = Integer.MAX_VALUE;

    Slot(SharedConnection connection) {
      this.connection = connection;
    }

    boolean isAlive() {
      return connection.isAlive();
    }

    /** Room for one more command, if there is. */
    boolean take(int limit) {
      synchronized (lock) {
        if (used >= Math.min(limit, most)) {
          return false;
        }
        used++;
        return true;
      }
    }

    void giveBack() {
      synchronized (lock) {
        used--;
      }
    }

    /** The server refused a command; false when that was the only one. */
    boolean limit() {
      synchronized (lock) {
        most = Math.max(1, used - 1);
        return used > 1;
      }
    }
  }

  @Override
  public String name() {
    return destination.toString();
  }

  @Override
  public String explain() {
    return client.explain();
  }

  @Override
  public Optional<MachineFailure> closed() {
    return closed;
  }

  /** Skips connections that turn out full or dead. */
  @Override
  public Pipe spawn(List<String> arguments) throws IOException {
    String marker = RandomHex.of(random, 16);
    String command = CommandText.of(marker, arguments);
    for (int attempt = 1; ; attempt++) {
      Slot slot = slot();
      boolean isStarted = false;
      try {
        Pipe pipe = slot.connection.start(command);
        isStarted = true;
        return new MarkedPipe(pipe, marker, slot::giveBack);
      } catch (SharedConnection.Full full) {
        if (attempt == CONNECTIONS || !slot.limit()) {
          throw full;
        }
      } catch (InterruptedIOException stop) {
        throw stop;
      } catch (IOException broken) {
        if (attempt == TRIES || slot.isAlive()) {
          throw broken;
        }
      } finally {
        if (!isStarted) {
          slot.giveBack();
        }
      }
    }
  }

  /** A connection with room, one command taken. */
  private Slot slot() throws IOException {
    Optional<Slot> ready = ready();
    if (ready.isPresent()) {
      return ready.get();
    }
    try {
      opening.lockInterruptibly();
      try {
        Optional<Slot> meanwhile = ready();
        return meanwhile.isPresent() ? meanwhile.get() : opened();
      } finally {
        opening.unlock();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while connecting to " + name());
    }
  }

  private Optional<Slot> ready() {
    int limit = isPersonal() ? Integer.MAX_VALUE : COMMANDS;
    return slots.stream().filter(Slot::isAlive).filter(slot -> slot.take(limit)).findFirst();
  }

  /** The caller holds {@link #opening}. */
  private Slot opened() throws IOException, InterruptedException {
    boolean isOpen = slots.stream().anyMatch(Slot::isAlive);
    Slot slot = next();
    // An earlier gateway may have left it.
    if (!slot.isAlive()) {
      if (isOpen && isPersonal()) {
        throw new IOException(
            name() + " takes no more commands on one connection, and another would need you");
      }
      refuseWithoutPerson();
      openAlone(slot.connection);
    }
    closed = Optional.empty();
    slot.take(COMMANDS);
    return slot;
  }

  /** The first connection that has ended, or a further one. */
  private Slot next() throws IOException {
    for (int number = 0; number < slots.size(); number++) {
      Slot slot = slots.get(number);
      if (!slot.isAlive()) {
        var renewed = new Slot(slot.connection);
        slots.set(number, renewed);
        return renewed;
      }
    }
    if (slots.size() == CONNECTIONS) {
      throw new IOException("too many commands at once on " + name());
    }
    var slot = new Slot(client.connection(destination, login, files.socket(slots.size())));
    slots.add(slot);
    return slot;
  }

  /** Do not retry unattended: a try may trigger an MFA push. */
  private void refuseWithoutPerson() {
    if (closed.isEmpty() && isPersonal()) {
      closed = Optional.of(new MachineFailure.NeedsYou(name(), login, "what you gave before"));
    }
    closed
        .filter(SshMachine::wantsPerson)
        .ifPresent(
            failure -> {
              throw new GpushException(failure);
            });
  }

  private static boolean wantsPerson(MachineFailure failure) {
    return failure instanceof MachineFailure.NeedsYou
        || failure instanceof MachineFailure.KeyRefused;
  }

  private boolean isPersonal() {
    return Files.exists(files.personal());
  }

  private void openAlone(SharedConnection connection) throws IOException, InterruptedException {
    logins.acquire();
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          connection.open();
          return;
        } catch (SharedConnection.Busy busy) {
          if (attempt == TRIES) {
            throw busy.failure();
          }
        }
        Thread.sleep(1L + random.nextInt(MOST_PAUSE_MILLIS));
      }
    } catch (GpushException failed) {
      remember(failed);
      throw failed;
    } finally {
      logins.release();
    }
  }

  private void remember(GpushException failed) throws IOException {
    if (failed.failure() instanceof MachineFailure failure && !failure.mayPass()) {
      closed = Optional.of(failure);
      if (failure instanceof MachineFailure.NeedsYou) {
        Files.write(files.personal(), new byte[0]);
      }
    }
  }

  @Override
  public void open(Person person) throws InterruptedException {
    opening.lockInterruptibly();
    try {
      if (slots.stream().noneMatch(Slot::isAlive)) {
        Slot slot = next();
        if (!slot.isAlive()) {
          open(slot.connection, person);
        }
      }
      closed = Optional.empty();
    } catch (IOException failed) {
      String reason = CleanText.line(String.valueOf(failed.getMessage()), MOST_REASON);
      throw new GpushException(new MachineFailure.Broken(name(), reason), failed);
    } finally {
      opening.unlock();
    }
  }

  private void open(SharedConnection connection, Person person)
      throws IOException, InterruptedException {
    if (closed.isEmpty() && !isPersonal() && openedAlone(connection)) {
      return;
    }
    if (!connection.open(person)) {
      Files.deleteIfExists(files.personal());
    }
  }

  /** False when the user is needed. */
  private boolean openedAlone(SharedConnection connection)
      throws IOException, InterruptedException {
    try {
      openAlone(connection);
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

  boolean end() throws IOException, InterruptedException {
    boolean isPersonal = isPersonal();
    for (Slot slot : slots) {
      slot.connection.end(isPersonal);
    }
    return true;
  }
}
