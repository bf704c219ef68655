package dev.gpush.app;

import dev.gpush.backends.transport.Launch;
import dev.gpush.backends.transport.OpenSsh;
import dev.gpush.backends.transport.OpenSshSettings;
import dev.gpush.backends.transport.Transport;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** One way out by ssh for each configuration of ssh that backends name. Thread-safe. */
final class Transports implements AutoCloseable {
  private final Path folder;
  private final Map<String, String> environment;
  private final Launch launch;
  private final SecureRandom random;
  private final Tasks tasks;
  private final ConcurrentHashMap<Optional<Path>, Transport> made = new ConcurrentHashMap<>();

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

  Transport of(BackendConfig block) {
    return made.computeIfAbsent(
        block.values().text("ssh-config").map(Path::of),
        config -> new OpenSsh(settings(config), launch, random, tasks));
  }

  private OpenSshSettings settings(Optional<Path> config) {
    OpenSshSettings usual = OpenSshSettings.usual(folder, environment);
    OpenSshSettings settings = config.map(usual::withConfig).orElse(usual);
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
