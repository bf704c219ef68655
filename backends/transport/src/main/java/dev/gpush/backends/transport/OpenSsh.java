package dev.gpush.backends.transport;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * The user's own ssh program: jump hosts, agents, certificates, hardware keys, Kerberos and second
 * factors work as in the user's terminal, because it is the same program with the same files.
 *
 * <p>Each machine has one shared connection (a ControlMaster in the background, in a folder of ours
 * and never at the user's ControlPath), so that a login happens once and a command costs
 * milliseconds. It outlives a killed gateway for a minute without commands, or for hours when a
 * person had to log in for it: then the next gateway finds it again.
 */
public final class OpenSsh implements Transport {
  /** Logins at the same time: a bastion turns away more than ten, and some fewer. */
  private static final int LOGINS = 6;

  /** A socket's path ends before 100 bytes; ssh adds 17 while it makes one. */
  private static final int MOST_FOLDER_LENGTH = 64;

  private static final int NAME_BYTES = 6;

  private final SshSettings settings;
  private final Launch launch;
  private final SecureRandom random;
  private final Tasks tasks;
  private final Semaphore logins = new Semaphore(LOGINS, true);
  private final ConcurrentHashMap<Destination, OpenSshMachine> machines = new ConcurrentHashMap<>();

  public OpenSsh(SshSettings settings, Launch launch, SecureRandom random, Tasks tasks) {
    if (settings.folder().toString().length() > MOST_FOLDER_LENGTH) {
      throw new IllegalArgumentException("too long for sockets: " + settings.folder());
    }
    this.settings = settings;
    this.launch = launch;
    this.random = random;
    this.tasks = tasks;
  }

  @Override
  public String kind() {
    return "openssh";
  }

  @Override
  public RemoteMachine machine(Destination destination, String login) {
    return machines.computeIfAbsent(
        destination,
        _ ->
            new OpenSshMachine(
                destination,
                login,
                new SshCommands(settings, destination),
                this::socketPath,
                settings,
                launch,
                logins,
                random,
                tasks));
  }

  /** Makes the folder as well. */
  private Path socketPath(Destination destination, int number) throws IOException {
    if (!Files.isDirectory(settings.folder())) {
      Files.createDirectories(
          settings.folder(),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    String text = settings.config().map(Path::toString).orElse("") + "\n" + destination;
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      String name = HexFormat.of().formatHex(hash, 0, NAME_BYTES);
      return settings.folder().resolve(name + "-" + number);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public void close() {
    List<Work<Boolean, IOException>> ends =
        machines.values().stream()
            .<Work<Boolean, IOException>>map(machine -> machine::end)
            .toList();
    try {
      tasks.all("close-ssh", ends);
      Files.deleteIfExists(settings.folder());
    } catch (IOException used) {
      // What a person has opened stays there for the next gateway.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
