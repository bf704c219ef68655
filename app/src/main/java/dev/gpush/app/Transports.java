package dev.gpush.app;

import dev.gpush.backends.transport.SshClient;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.backends.transport.SshTransport;
import dev.gpush.backends.transport.Transport;
import dev.gpush.backends.transport.TransportSelector;
import dev.gpush.backends.transport.builtin.Builtin;
import dev.gpush.backends.transport.openssh.Launch;
import dev.gpush.backends.transport.openssh.OpenSsh;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The ssh transports that backends name: one for each configuration and reason. Thread-safe. */
final class Transports implements AutoCloseable {
  private static final String BUILTIN = "builtin";

  private final Path folder;
  private final Map<String, String> environment;
  private final Launch launch;
  private final SecureRandom random;
  private final Tasks tasks;
  private final ConcurrentHashMap<Key, Transport> made = new ConcurrentHashMap<>();

  Transports(
      Path folder,
      Map<String, String> environment,
      Launch launch,
      SecureRandom random,
      Tasks tasks) {
    this.folder = folder;
    this.environment = environment;
    this.launch = launch;
    this.random = random;
    this.tasks = tasks;
  }

  /**
   * The key of a transport.
   *
   * @param reason for the builtin one
   */
  private record Key(String kind, Optional<Path> config, String reason) {}

  TransportSelector of(BackendConfig block) {
    Optional<Path> config = block.values().text("ssh-config").map(Path::of);
    Optional<String> usual = block.values().text("transport");
    return wished -> made.computeIfAbsent(key(config, wished.or(() -> usual)), this::make);
  }

  private Key key(Optional<Path> config, Optional<String> wished) {
    if (wished.isPresent()) {
      boolean isBuiltin = wished.get().equals(BUILTIN);
      return new Key(wished.get(), config, isBuiltin ? "your configuration says so" : "");
    }
    String program = SshSettings.usual(folder, environment).program();
    return isOnPath(program)
        ? new Key("openssh", config, "")
        : new Key(BUILTIN, config, "there is no " + program + " on the PATH");
  }

  private boolean isOnPath(String program) {
    for (String entry : List.of(environment.getOrDefault("PATH", "").split(":", -1))) {
      try {
        if (!entry.isEmpty() && Files.isExecutable(Path.of(entry).resolve(program))) {
          return true;
        }
      } catch (InvalidPathException noPath) {
        // Nothing is there.
      }
    }
    return false;
  }

  private Transport make(Key key) {
    SshSettings settings = settings(key.config());
    SshClient client =
        key.kind().equals(BUILTIN)
            ? new Builtin(settings, key.reason(), tasks)
            : new OpenSsh(settings, launch, tasks);
    return new SshTransport(client, settings, random, tasks);
  }

  private SshSettings settings(Optional<Path> config) {
    SshSettings usual = SshSettings.usual(folder, environment);
    SshSettings settings = config.map(usual::withConfig).orElse(usual);
    // For tests, and for networks that are worse than usual.
    String silence = environment.getOrDefault("GPUSH_SSH_SILENCE", "");
    if (silence.isEmpty()) {
      return settings;
    }
    Duration limit = DurationText.parse("GPUSH_SSH_SILENCE", silence);
    return settings.withSilence(limit, limit);
  }

  @Override
  public void close() {
    made.values().forEach(Transport::close);
  }
}
