package dev.gpush.app;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GpushException;
import dev.gpush.ssh.access.AccessFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What config.yaml says about who may log in over ssh; read again when the file changes. While it
 * has mistakes, the last configuration that had none counts. Thread-safe.
 */
final class ConfiguredAccess implements Supplier<AccessFiles> {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private final Configs configs;
  private final Path home;
  private final List<Path> files;
  private final String owner;

  // guarded by this
  private List<Object> version = List.of();
  private AccessFiles access;

  ConfiguredAccess(Configs configs, Path home, Path site, String owner) {
    this.configs = configs;
    this.home = home;
    this.files = List.of(home.resolve("config.yaml"), site);
    this.owner = owner;
    this.access = AccessFiles.ofHome(home, owner);
  }

  @Override
  public synchronized AccessFiles get() {
    List<Object> now = current();
    if (!now.equals(version)) {
      version = now;
      try {
        read(configs.load(home));
      } catch (GpushException invalid) {
        LOG.log(System.Logger.Level.WARNING, "who may log in is unchanged", invalid);
      }
    }
    return access;
  }

  private List<Object> current() {
    var times = new ArrayList<>();
    for (Path file : files) {
      try {
        times.add(Files.getLastModifiedTime(file));
        times.add(Files.size(file));
      } catch (IOException absent) {
        times.add("absent");
      }
    }
    return times;
  }

  private void read(Config config) {
    Set<String> principals = Set.copyOf(texts(config, "gateway.principals"));
    access =
        new AccessFiles(
            owner,
            path(config, "gateway.authorized-keys")
                .orElseGet(() -> home.resolve("authorized_keys")),
            path(config, "gateway.trusted-user-ca").stream().toList(),
            principals.isEmpty() ? Set.of(owner) : principals,
            path(config, "gateway.revoked-keys").stream().toList());
  }

  private static Optional<Path> path(Config config, String key) {
    return config.text(key).map(Path::of);
  }

  private static List<String> texts(Config config, String key) {
    return config.value(key).stream()
        .flatMap(value -> value.items().stream())
        .flatMap(item -> item.asText().stream())
        .collect(Collectors.toList());
  }
}
