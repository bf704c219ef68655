package dev.gpush.backends.transport.openssh;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.SharedConnection;
import dev.gpush.backends.transport.SshClient;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.core.task.Tasks;
import java.nio.file.Path;

/**
 * The user's own ssh program: jump hosts, agents, certificates, hardware keys, Kerberos and second
 * factors work as in the user's terminal, because it is the same program with the same files.
 */
public final class OpenSsh implements SshClient {
  /** A socket's path ends before 100 bytes; ssh adds 17 while it makes one. */
  private static final int MOST_FOLDER_LENGTH = 64;

  private final SshSettings settings;
  private final Launch launch;
  private final Tasks tasks;

  public OpenSsh(SshSettings settings, Launch launch, Tasks tasks) {
    if (settings.folder().toString().length() > MOST_FOLDER_LENGTH) {
      throw new IllegalArgumentException("too long for sockets: " + settings.folder());
    }
    this.settings = settings;
    this.launch = launch;
    this.tasks = tasks;
  }

  @Override
  public String explain() {
    return "openssh: your own ssh and its configuration";
  }

  @Override
  public SharedConnection connection(Destination destination, String login, Path socket) {
    return new OpenSshConnection(destination, login, socket, settings, launch, tasks);
  }
}
