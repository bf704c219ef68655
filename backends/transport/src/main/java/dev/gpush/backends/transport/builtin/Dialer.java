package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.SshSettings;
import dev.gpush.backends.transport.builtin.HostKeyCheck.Stranger;
import dev.gpush.backends.transport.builtin.config.HostConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.net.Socket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import net.schmizz.sshj.Config;
import net.schmizz.sshj.SSHClient;

/** Opens connections: reaches the host, looks at its key, logs in. */
final class Dialer {
  /** On one connection of a server that takes ten; the rest is for those who come meanwhile. */
  private static final int COMMANDS = 8;

  /** How long a connection without commands stays, so that the next need not wait. */
  private static final Duration UNUSED = Duration.ofSeconds(60);

  /** One that a person has opened: asked for once, it should do for the day's work. */
  private static final Duration UNUSED_PERSONAL = Duration.ofHours(4);

  private final SshSettings settings;
  private final SecureRandom random;
  private final Tasks tasks;
  private final Config algorithms = ClientAlgorithms.offered();

  Dialer(SshSettings settings, SecureRandom random, Tasks tasks) {
    this.settings = settings;
    this.random = random;
    this.tasks = tasks;
  }

  /** A connection, and whether a person has given something for it. */
  record Dialed(SshConnection wire, boolean isPersonal) {}

  /**
   * Opens one.
   *
   * @param via through this one
   * @param person who may be asked; without one nobody is
   * @throws GpushException with a {@link MachineFailure}
   */
  Dialed dial(HostConfig config, String login, Optional<SshConnection> via, Optional<Person> person)
      throws IOException, InterruptedException {
    var check = new HostKeyCheck(config, login, random);
    try {
      return dial(config, login, via, person, check);
    } catch (GpushException failed) {
      Optional<Stranger> stranger = check.stranger();
      if (person.isEmpty()
          || stranger.isEmpty()
          || !isRight(person.get(), config, stranger.get())) {
        throw failed;
      }
      check.add(stranger.get());
      return dial(config, login, via, person, new HostKeyCheck(config, login, random));
    }
  }

  /** A person decides whether a key that nobody knows is the host's. */
  private static boolean isRight(Person person, HostConfig config, Stranger stranger)
      throws InterruptedException {
    person.say("nobody knows yet whether this is " + config.keyName() + "; its " + stranger.kind());
    person.say("key has the fingerprint " + stranger.fingerprint());
    Optional<String> answer = person.ask("is it the right one? (yes/no) ", false);
    return answer.filter(word -> word.strip().toLowerCase(Locale.ROOT).equals("yes")).isPresent();
  }

  private Dialed dial(
      HostConfig config,
      String login,
      Optional<SshConnection> via,
      Optional<Person> person,
      HostKeyCheck check)
      throws IOException, InterruptedException {
    var client = new SSHClient(algorithms);
    boolean isOpen = false;
    Optional<SshConnection.Through> through = Optional.empty();
    try {
      String name = config.destination().toString();
      int millis = (int) settings.connectLimit().toMillis();
      client.setConnectTimeout(millis);
      client.setTimeout(millis);
      client.getTransport().setTimeoutMs((int) limit().toMillis());
      client.addHostKeyVerifier(check);
      // Whether an answer comes at all, Wire knows; the library would wait half a minute for each.
      client.getConnection().setTimeoutMs(0);
      client.getConnection().setWindowSize(ClientAlgorithms.WINDOW);
      if (via.isPresent()) {
        through = Optional.of(way(config, via.get()));
      }
      Optional<SshConnection.Through> way = through;
      within(name, () -> reach(client, config, way, check));
      var session = new SshLogin(client, config, login, person, settings.environment(), limit());
      boolean isPersonal = person.isPresent() ? session.run() : within(name, session::run);
      Optional<Socket> socket = Optional.ofNullable(client.getSocket());
      if (socket.isPresent()) {
        socket.get().setSoTimeout(0);
      }
      var wire =
          new SshConnection(
              client,
              socket,
              through,
              isPersonal ? Integer.MAX_VALUE : COMMANDS,
              isPersonal ? settings.personalSilence() : settings.silence(),
              isPersonal ? UNUSED_PERSONAL : UNUSED,
              tasks);
      wire.keep();
      isOpen = true;
      return new Dialed(wire, isPersonal);
    } finally {
      if (!isOpen) {
        abandon(client, through);
      }
    }
  }

  private SshConnection.Through way(HostConfig config, SshConnection via)
      throws IOException, InterruptedException {
    String name = config.destination().toString();
    return within(name, () -> via.through(config.hostName(), config.port()));
  }

  private boolean reach(
      SSHClient client, HostConfig config, Optional<SshConnection.Through> way, HostKeyCheck check)
      throws IOException {
    try {
      if (way.isPresent()) {
        client.connectVia(way.get().channel());
      } else {
        client.connect(config.hostName(), config.port());
      }
      return true;
    } catch (IOException failed) {
      if (check.failure().isPresent()) {
        throw new GpushException(check.failure().get(), failed);
      }
      throw failed;
    }
  }

  private Duration limit() {
    return settings.connectLimit().multipliedBy(2).plusSeconds(5);
  }

  /** Network and servers may let anybody wait for ever; the thread that waits is interrupted. */
  private <T> T within(String name, Work<T, IOException> work)
      throws IOException, InterruptedException {
    try {
      return tasks.within(limit(), "ssh-" + name, work);
    } catch (TimeoutException hangs) {
      String reason = "Connection timed out: no login within " + DurationText.of(limit());
      throw new GpushException(new MachineFailure.Unreachable(name, reason), hangs);
    }
  }

  private void abandon(SSHClient client, Optional<SshConnection.Through> through) {
    Optional<Socket> socket = Optional.ofNullable(client.getSocket());
    try {
      if (socket.isPresent()) {
        socket.get().close();
      }
    } catch (IOException closed) {
      // It is of no more use.
    }
    through.ifPresent(SshConnection.Through::end);
    through.ifPresent(way -> way.wire().letGo());
  }
}
