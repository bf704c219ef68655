package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.backends.transport.Transport;
import dev.gpush.backends.transport.builtin.config.HostConfig;
import dev.gpush.backends.transport.builtin.config.SshConfig;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * SSH spoken by the gateway itself, with the user's configuration, keys and agent. A host between
 * is one connection for all that are behind it. The library is loaded by the first connection.
 */
public final class Builtin implements Transport {
  /** Logins at the same time: a bastion turns away more than ten, and some fewer. */
  private static final int LOGINS = 6;

  private static final int NAME_BYTES = 6;

  private final SshSettings settings;
  private final String reason;
  private final SecureRandom random;
  private final Tasks tasks;
  private final SshConfig configs;
  private final Semaphore logins = new Semaphore(LOGINS, true);
  private final Supplier<Dialer> dialer;
  private final ConcurrentHashMap<Hop, BuiltinMachine> machines = new ConcurrentHashMap<>();

  /**
   * A transport.
   *
   * @param reason why this one, in words that end a line
   */
  public Builtin(SshSettings settings, String reason, SecureRandom random, Tasks tasks) {
    this.settings = settings;
    this.reason = reason;
    this.random = random;
    this.tasks = tasks.group("builtin");
    Path home = Path.of(settings.environment().getOrDefault("HOME", "/"));
    String user =
        settings
            .environment()
            .getOrDefault("USER", settings.environment().getOrDefault("LOGNAME", "root"));
    this.configs = new SshConfig(settings.config(), home, user);
    this.dialer = new Once(() -> new Dialer(settings, random, this.tasks));
  }

  /**
   * A host as one comes to it.
   *
   * @param via the hosts between that are given with it; without, its configuration says them
   */
  private record Hop(Destination destination, Optional<List<Destination>> via) {}

  /** Made when it is first needed. */
  private static final class Once implements Supplier<Dialer> {
    private final Supplier<Dialer> make;
    private final Object lock = new Object();
    // guarded by lock
    private Optional<Dialer> made = Optional.empty();

    Once(Supplier<Dialer> make) {
      this.make = make;
    }

    @Override
    public Dialer get() {
      synchronized (lock) {
        if (made.isEmpty()) {
          made = Optional.of(make.get());
        }
        return made.get();
      }
    }
  }

  @Override
  public String kind() {
    return "builtin";
  }

  @Override
  public RemoteMachine machine(Destination destination, String login) {
    return machine(new Hop(destination, Optional.empty()), login);
  }

  private BuiltinMachine machine(Hop hop, String login) {
    return machines.computeIfAbsent(
        hop,
        _ ->
            new BuiltinMachine(
                hop.destination(),
                login,
                reason,
                configs,
                config -> between(hop, config, login),
                dialer,
                settings.folder().resolve(name(hop) + ".person"),
                logins,
                random,
                tasks));
  }

  /** The last host before this one; the others are before that. */
  private Optional<BuiltinMachine> between(Hop hop, HostConfig config, String login) {
    List<Destination> jumps = hop.via().orElseGet(config::jumps);
    // Host * with a ProxyJump is about the host between too; ssh sees through that as well.
    if (jumps.isEmpty() || jumps.getLast().host().equals(hop.destination().host())) {
      return Optional.empty();
    }
    List<Destination> before = jumps.subList(0, jumps.size() - 1);
    var next =
        new Hop(
            jumps.getLast(),
            before.isEmpty() ? Optional.empty() : Optional.of(List.copyOf(before)));
    return Optional.of(machine(next, login));
  }

  private String name(Hop hop) {
    String text = settings.config().map(Path::toString).orElse("") + "\nbuiltin\n" + hop;
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, NAME_BYTES);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public void close() {
    List<Work<Boolean, RuntimeException>> ends =
        machines.values().stream()
            .<Work<Boolean, RuntimeException>>map(machine -> machine::end)
            .toList();
    try {
      tasks.all("close-ssh", ends);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      tasks.close();
    }
  }
}
