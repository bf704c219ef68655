package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.SharedConnection;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import net.schmizz.sshj.SSHClient;
import net.schmizz.sshj.common.SSHRuntimeException;
import net.schmizz.sshj.connection.ConnectionException;
import net.schmizz.sshj.connection.channel.OpenFailException;

/**
 * A connection of the library's, through a connection to a jump host if there is one. It asks the
 * other end whether it is there; when no answer comes, its socket is closed, so that also those end
 * who wait for the network to take what they write. The library's own keepalive waits with them.
 */
final class SshjConnection implements SharedConnection {
  /** Questions in the time of silence: the third without an answer is the last. */
  private static final int QUESTIONS = 3;

  /** For a login with a user, who may have to look for a telephone. */
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);

  private final Destination destination;
  private final String login;
  private final SshConfig configs;
  private final SshSettings settings;
  private final Tasks tasks;

  private volatile Optional<Clients> opened = Optional.empty();

  SshjConnection(
      Destination destination, String login, SshConfig configs, SshSettings settings, Tasks tasks) {
    this.destination = destination;
    this.login = login;
    this.configs = configs;
    this.settings = settings;
    this.tasks = tasks;
  }

  /**
   * What makes a connection.
   *
   * @param first has the socket: the jump host's client, or the target's
   */
  private record Clients(SSHClient first, SSHClient target) {
    boolean isAlive() {
      return target.getTransport().isRunning();
    }

    /** Closes the socket, as a network that breaks does, so that every wait on it ends. */
    void cut() {
      Optional<Socket> socket = Optional.ofNullable(first.getSocket());
      try {
        if (socket.isPresent()) {
          socket.get().close();
        }
      } catch (IOException closed) {
        // That is what was wanted.
      }
    }
  }

  @Override
  public boolean isAlive() {
    return opened.filter(Clients::isAlive).isPresent();
  }

  @Override
  public void open() throws IOException, InterruptedException {
    open(Optional.empty());
  }

  @Override
  public boolean open(Person person) throws IOException, InterruptedException {
    return open(Optional.of(person));
  }

  private boolean open(Optional<Person> person) throws IOException, InterruptedException {
    HostConfig config = configs.of(destination);
    Optional<Destination> between = config.jump();
    var target = new SSHClient(ClientAlgorithms.offered());
    var first = between.isPresent() ? new SSHClient(ClientAlgorithms.offered()) : target;
    var clients = new Clients(first, target);
    boolean isOpen = false;
    try {
      boolean isAsked;
      if (between.isPresent()) {
        isAsked = openJump(first, between.get(), person);
        // A writer waits this long for the jump host to take more.
        Duration patience = isAsked ? settings.personalSilence() : settings.silence();
        first.getConnection().setTimeoutMs((int) patience.toMillis());
        isAsked |= logIn(target, config, person, () -> reachThrough(first, target, config));
      } else {
        isAsked = logIn(target, config, person, () -> reach(target, config));
      }
      first.getSocket().setSoTimeout(0);
      Duration silence = isAsked ? settings.personalSilence() : settings.silence();
      opened = Optional.of(clients);
      tasks.start("ssh-keep", () -> watch(clients, silence));
      isOpen = true;
      return isAsked;
    } finally {
      if (!isOpen) {
        clients.cut();
      }
    }
  }

  /** What may pass is told as the far host's. */
  private boolean openJump(SSHClient client, Destination jump, Optional<Person> person)
      throws IOException, InterruptedException {
    HostConfig config = configs.of(jump);
    if (config.jump().isPresent()) {
      throw SshConfig.needsOpenSsh(destination, "a jump host, " + jump + ", that has another one");
    }
    try {
      return logIn(client, config, person, () -> reach(client, config));
    } catch (GpushException failed) {
      if (failed.failure() instanceof MachineFailure failure && failure.mayPass()) {
        String reason = jump + ": " + ConnectTrouble.reason(failed);
        throw new GpushException(
            new MachineFailure.ProxyFailed(destination.toString(), reason), failed);
      }
      throw failed;
    }
  }

  @FunctionalInterface
  private interface Reach {
    void run() throws IOException;
  }

  private static void reach(SSHClient client, HostConfig config) throws IOException {
    client.connect(config.hostName(), config.port());
  }

  private static void reachThrough(SSHClient jump, SSHClient client, HostConfig config)
      throws IOException {
    client.connectVia(jump.newDirectConnection(config.hostName(), config.port()));
  }

  /** Whether the user was asked for it. */
  private boolean logIn(SSHClient client, HostConfig host, Optional<Person> person, Reach reach)
      throws IOException, InterruptedException {
    Optional<UserAnswers> user = person.map(one -> new UserAnswers(one, host, login));
    Duration limit = person.isPresent() ? ANSWER_LIMIT : settings.loginLimit();
    var check = new HostKeyCheck(host, login, user);
    prepare(client, limit);
    client.addHostKeyVerifier(check);
    Work<Boolean, IOException> work =
        () -> {
          reach.run();
          new SshjLogin(client, host, login, user, settings.environment(), limit).run();
          return user.filter(UserAnswers::isAsked).isPresent();
        };
    try {
      return tasks.within(
          limit, "ssh-" + host.name(), work, () -> user.ifPresent(UserAnswers::stop));
    } catch (TimeoutException hangs) {
      String reason = "Connection timed out: no login within " + DurationText.of(limit);
      throw new GpushException(new MachineFailure.Unreachable(host.name(), reason), hangs);
    } catch (IOException | SSHRuntimeException failed) {
      if (check.failure().isPresent()) {
        throw new GpushException(check.failure().get(), failed);
      }
      var failure = new GpushException(ConnectTrouble.of(host.name(), failed), failed);
      if (ConnectTrouble.isTurnedAway(failed)) {
        throw new Busy(failure);
      }
      throw failure;
    }
  }

  private void prepare(SSHClient client, Duration limit) {
    int millis = (int) settings.connectLimit().toMillis();
    client.setConnectTimeout(millis);
    client.setTimeout(millis);
    client.getTransport().setTimeoutMs((int) limit.toMillis());
    // Whether an answer comes at all, watch knows; the library would wait half a minute for each.
    client.getConnection().setTimeoutMs(0);
    client.getConnection().setWindowSize(ClientAlgorithms.WINDOW);
  }

  @Override
  public Pipe start(String command) throws IOException {
    Clients clients = opened.orElseThrow(() -> new IOException("not connected"));
    try {
      return CommandChannel.start(clients.target().getConnection(), command, tasks);
    } catch (OpenFailException full) {
      throw new Full(destination + " runs no command: " + ConnectTrouble.reason(full), full);
    } catch (IOException broken) {
      if (Thread.currentThread().isInterrupted()) {
        throw (IOException) new InterruptedIOException("interrupted").initCause(broken);
      }
      throw broken;
    }
  }

  private void watch(Clients clients, Duration silence) throws InterruptedException {
    Duration pause = silence.dividedBy(QUESTIONS);
    try {
      while (clients.isAlive()) {
        Thread.sleep(pause);
        if (clients.isAlive() && !answers(clients, pause.multipliedBy(QUESTIONS - 1L))) {
          clients.cut();
        }
      }
    } finally {
      clients.cut();
    }
  }

  private boolean answers(Clients clients, Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "ssh-keepalive", () -> ask(clients.target()), clients::cut);
    } catch (TimeoutException silent) {
      return false;
    } catch (IOException | SSHRuntimeException gone) {
      return clients.isAlive();
    }
  }

  private static boolean ask(SSHClient client) throws IOException {
    try {
      client
          .getConnection()
          .sendGlobalRequest("keepalive@openssh.com", true, new byte[0])
          .retrieve();
    } catch (ConnectionException refused) {
      // An answer like another, or the connection has ended, which is seen.
    }
    return true;
  }

  @Override
  public void end(boolean isPersonal) {
    opened.ifPresent(Clients::cut);
  }
}
