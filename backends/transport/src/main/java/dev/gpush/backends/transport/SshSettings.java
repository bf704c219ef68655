package dev.gpush.backends.transport;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * How machines are reached by ssh.
 *
 * @param program ssh, or where it is; not for {@code builtin}
 * @param config a configuration file in place of the user's
 * @param folder for the shared connections: short, private, of this host; made when needed
 * @param environment of the programs that are started; names home, user and agent
 * @param connectLimit for reaching the machine; logging in may take as long again
 * @param silence after which a connection without an answer is dead: it must be shorter than a
 *     person's patience, and another try costs nothing
 * @param personalSilence the same where another try costs a person's answer: a network that comes
 *     back within it takes the connection with it
 */
public record SshSettings(
    String program,
    Optional<Path> config,
    Path folder,
    Map<String, String> environment,
    Duration connectLimit,
    Duration silence,
    Duration personalSilence) {
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration SILENCE = Duration.ofSeconds(15);
  private static final Duration PERSONAL_SILENCE = Duration.ofMinutes(3);

  public SshSettings {
    environment = Map.copyOf(environment);
  }

  /** For reaching a machine and logging in, where no user is asked. */
  public Duration loginLimit() {
    return connectLimit.multipliedBy(2).plusSeconds(5);
  }

  public static SshSettings usual(Path folder, Map<String, String> environment) {
    return new SshSettings(
        "ssh", Optional.empty(), folder, environment, CONNECT, SILENCE, PERSONAL_SILENCE);
  }

  public SshSettings withConfig(Path file) {
    return new SshSettings(
        program, Optional.of(file), folder, environment, connectLimit, silence, personalSilence);
  }

  /** For networks that are better or worse than usual, and tests. */
  public SshSettings withSilence(Duration usual, Duration personal) {
    return new SshSettings(program, config, folder, environment, connectLimit, usual, personal);
  }
}
