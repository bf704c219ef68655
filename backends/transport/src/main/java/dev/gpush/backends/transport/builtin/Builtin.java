package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.SharedConnection;
import dev.gpush.backends.transport.SshClient;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.core.task.Tasks;
import java.nio.file.Path;
import java.util.Map;

/**
 * SSH spoken by the gateway itself, with the user's configuration, keys and agent. Connections end
 * with the gateway: where the user is needed, the next gateway needs them again.
 */
public final class Builtin implements SshClient {
  private final SshSettings settings;
  private final String reason;
  private final SshConfig config;
  private final Tasks tasks;

  /**
   * A client.
   *
   * @param reason why this one, in words that end a line
   */
  public Builtin(SshSettings settings, String reason, Tasks tasks) {
    Map<String, String> environment = settings.environment();
    this.settings = settings;
    this.reason = reason;
    this.config =
        new SshConfig(
            settings.config(),
            Path.of(environment.getOrDefault("HOME", "/")),
            environment.getOrDefault("USER", environment.getOrDefault("LOGNAME", "root")));
    this.tasks = tasks;
  }

  @Override
  public String explain() {
    return "builtin: " + reason;
  }

  @Override
  public SharedConnection connection(Destination destination, String login, Path socket) {
    return new SshjConnection(destination, login, config, settings, tasks);
  }
}
