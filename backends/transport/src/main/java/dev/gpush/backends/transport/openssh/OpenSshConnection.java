package dev.gpush.backends.transport.openssh;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.SharedConnection;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * A ControlMaster in the background, at a socket of ours and never at the user's ControlPath: a
 * login happens once and a command costs milliseconds. It outlives a killed gateway for a minute
 * without commands, or for hours when the user had to log in for it: then the next gateway finds it
 * again. The user logs in with an ssh in their own terminal: no secret passes through gpush, and
 * prompts are ssh's own.
 */
final class OpenSshConnection implements SharedConnection {
  private static final int MOST_SAID = 64 * 1024;

  private static final Duration END_LIMIT = Duration.ofSeconds(3);

  private final String name;
  private final String login;
  private final Path socket;
  private final SshCommands commands;
  private final SshSettings settings;
  private final Launch launch;
  private final Tasks tasks;

  OpenSshConnection(
      Destination destination,
      String login,
      Path socket,
      SshSettings settings,
      Launch launch,
      Tasks tasks) {
    this.name = destination.toString();
    this.login = login;
    this.socket = socket;
    this.commands = new SshCommands(settings, destination);
    this.settings = settings;
    this.launch = launch;
    this.tasks = tasks;
  }

  /** Whether an ssh listens there. Whether the network still leads anywhere, only silence tells. */
  @Override
  public boolean isAlive() {
    if (!Files.exists(socket)) {
      return false;
    }
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException nobody) {
      return false;
    }
  }

  @Override
  public void open() throws IOException, InterruptedException {
    clear();
    Said said = run(commands.open(socket, hostKeys(false)), settings.loginLimit());
    if (said.status() == 0 && isAlive()) {
      return;
    }
    var failed = new GpushException(Diagnosis.of(name, login, said.errors()));
    if (said.errors().contains("kex_exchange_identification")) {
      throw new Busy(failed);
    }
    throw failed;
  }

  @Override
  public boolean open(Person person) throws IOException, InterruptedException {
    clear();
    int status = person.run(commands.openWithPerson(socket, hostKeys(true)), Map.of());
    if (status == 127) {
      throw new GpushException(new MachineFailure.NoSsh(name, settings.program()));
    }
    if (status != 0 || !isAlive()) {
      throw new GpushException(
          new MachineFailure.Broken(
              name, "ssh ended with status " + status + "; what it said is above"));
    }
    return true;
  }

  /** The socket of an ssh that was killed would keep the next from listening. */
  private void clear() throws IOException {
    Files.deleteIfExists(socket);
  }

  /**
   * How strictly the host's key is looked at: never less than that a changed one stops us, whatever
   * the configuration says.
   */
  private String hostKeys(boolean withPerson) throws IOException, InterruptedException {
    Said said = run(commands.effective(), settings.loginLimit());
    if (said.status() != 0) {
      throw new GpushException(Diagnosis.of(name, login, said.errors()));
    }
    return switch (SshCommands.values(said.output()).getOrDefault("stricthostkeychecking", "")) {
      case "accept-new", "false", "no", "off" -> "accept-new";
      case "ask" -> withPerson ? "ask" : "yes";
      default -> "yes";
    };
  }

  private record Said(int status, String output, String errors) {}

  private Said run(List<String> command, Duration limit) throws IOException, InterruptedException {
    try (Pipe pipe = launch.start(command, commands.alone())) {
      pipe.input().close();
      return tasks.within(limit, "ssh-" + name, () -> said(pipe), pipe::close);
    } catch (TimeoutException hangs) {
      String reason = "Connection timed out: no login within " + DurationText.of(limit);
      return new Said(255, "", reason);
    } catch (NoSuchFileException noProgram) {
      throw new GpushException(new MachineFailure.NoSsh(name, settings.program()), noProgram);
    }
  }

  /** Its end first: an ssh in the background may hold the streams open for as long as it lives. */
  private static Said said(Pipe pipe) throws IOException, InterruptedException {
    int status = pipe.await();
    String output = new String(pipe.output().readNBytes(MOST_SAID), StandardCharsets.UTF_8);
    String errors = new String(pipe.errors().readNBytes(MOST_SAID), StandardCharsets.UTF_8);
    return new Said(status, output, errors);
  }

  @Override
  public Pipe start(String command) throws IOException {
    return launch.start(commands.run(socket, command), commands.alone());
  }

  @Override
  public void end(boolean isPersonal) throws IOException, InterruptedException {
    if (!isPersonal) {
      if (isAlive()) {
        run(commands.close(socket), END_LIMIT);
      }
      clear();
    }
  }
}
