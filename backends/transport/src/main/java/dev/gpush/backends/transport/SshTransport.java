package dev.gpush.backends.transport;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** The machines that one {@link SshClient} leads to. */
public final class SshTransport implements Transport {
  /** Logins at the same time: a bastion turns away more than ten, and some fewer. */
  private static final int LOGINS = 6;

  private final SshClient client;
  private final SshSettings settings;
  private final SecureRandom random;
  private final Tasks tasks;
  private final Semaphore logins = new Semaphore(LOGINS, true);
  private final ConcurrentHashMap<Destination, SshMachine> machines = new ConcurrentHashMap<>();

  public SshTransport(SshClient client, SshSettings settings, SecureRandom random, Tasks tasks) {
    this.client = client;
    this.settings = settings;
    this.random = random;
    this.tasks = tasks;
  }

  @Override
  public RemoteMachine machine(Destination destination, String login) {
    return machines.computeIfAbsent(
        destination,
        _ ->
            new SshMachine(
                destination,
                login,
                client,
                ConnectionFiles.of(settings, destination),
                logins,
                random));
  }

  @Override
  public void close() {
    try {
      tasks.each("close-ssh", machines.values(), SshMachine::end);
      Files.deleteIfExists(settings.folder());
    } catch (IOException used) {
      // What a user has opened stays there for the next gateway.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
