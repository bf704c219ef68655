package dev.gpush.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.talk.SshAccess;
import dev.gpush.core.talk.Talk;
import dev.gpush.ssh.connection.NodeName;
import dev.gpush.ssh.connection.PublishedSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/** The files in the home that ssh clients read, and their Include line in the user's own file. */
public final class SshConfigFiles implements SshAccess {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private final Path home;
  private final IncludeLine include;
  private final SshConfigText text;
  private final String knownHosts;

  /** What ssh runs, each with its text. */
  private final Map<Path, String> programs;

  private final Optional<WindowsLink> windows;

  /** One writer at a time, so that the last caller's sessions are what stays. */
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock: hosts, unwritten
  private List<NodeName> hosts = List.of();
  private Optional<IOException> unwritten = Optional.empty();

  public SshConfigFiles(
      SshServerSettings settings, Path keyFile, HomeIdentity identity, SshAddress address) {
    this.home = settings.home();
    this.include = new IncludeLine(settings.userConfig(), file());
    this.text =
        new SshConfigText(keyFile, knownHostsFile(), identity.name(), reach(settings, address));
    this.knownHosts = identity.name() + " " + identity.hostKey() + "\n";
    var forWindows =
        new ProxyFiles(
            settings.launcher(),
            home,
            switch (address) {
              case SshAddress.Port(var number) -> Path.of(Integer.toString(number));
              case SshAddress.Socket(var socket) -> socket;
            });
    this.windows =
        settings
            .wsl()
            .map(wsl -> new WindowsLink(wsl, home, keyFile, identity, forWindows.script()));
    var all = new TreeMap<>(programs(settings, identity, address));
    if (windows.isPresent()) {
      all.put(forWindows.script(), forWindows.scriptText());
      all.put(forWindows.python(), ProxyFiles.PYTHON);
    }
    this.programs = all;
  }

  private SshConfigText.Reach reach(SshServerSettings settings, SshAddress address) {
    return switch (address) {
      case SshAddress.Port(var number) -> new SshConfigText.ByPort(number, wakeScriptFile());
      case SshAddress.Socket(var socket) ->
          new SshConfigText.ByProxy(new ProxyFiles(settings.launcher(), home, socket).script());
    };
  }

  private Map<Path, String> programs(
      SshServerSettings settings, HomeIdentity identity, SshAddress address) {
    return switch (address) {
      case SshAddress.Port(var number) ->
          Map.of(
              wakeScriptFile(),
              new WakeScript(
                      settings.launcher(),
                      home,
                      new PortMemory(home).file(),
                      identity.banner(),
                      number)
                  .text());
      case SshAddress.Socket(var socket) -> {
        var proxy = new ProxyFiles(settings.launcher(), home, socket);
        yield Map.of(proxy.script(), proxy.scriptText(), proxy.python(), ProxyFiles.PYTHON);
      }
    };
  }

  private Path knownHostsFile() {
    return home.resolve("known_hosts");
  }

  private Path wakeScriptFile() {
    return home.resolve("ssh_wake");
  }

  /** Where the files cannot be written, it is tried again: no session depends on them. */
  public void publish(List<PublishedSession> sessions) {
    lock.lock();
    try {
      hosts = sessions.stream().flatMap(one -> one.hosts().stream()).toList();
      write();
    } finally {
      lock.unlock();
    }
  }

  /** Writes what could not be written before. */
  public void ensureWritten() {
    lock.lock();
    try {
      if (unwritten.isPresent()) {
        write();
      }
    } finally {
      lock.unlock();
    }
  }

  private void write() {
    boolean isFirst = unwritten.isEmpty();
    unwritten = Optional.empty();
    try {
      WholeFile.write(knownHostsFile(), knownHosts, "rw-r--r--");
      for (var program : programs.entrySet()) {
        WholeFile.write(program.getKey(), program.getValue(), "rwx------");
      }
      WholeFile.write(file(), text.of(hosts), "rw-r--r--");
      windows.ifPresent(link -> link.publish(hosts));
    } catch (IOException failed) {
      unwritten = Optional.of(failed);
      if (isFirst) {
        LOG.log(System.Logger.Level.WARNING, "ssh config not written, file=" + file(), failed);
      }
    }
  }

  private Path file() {
    return home.resolve("ssh_config");
  }

  private static GpushException unusable(Path file, IOException failed) {
    return new GpushException(
        new GatewayFailure.HomeUnusable(file.toString(), FileReason.of(failed)), failed);
  }

  @Override
  public Path configFile() {
    lock.lock();
    try {
      ensureWritten();
      if (unwritten.isPresent()) {
        throw unusable(file(), unwritten.get());
      }
      return file();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String configText() {
    try {
      return Files.readString(configFile());
    } catch (IOException failed) {
      throw unusable(file(), failed);
    }
  }

  @Override
  public boolean isLinked() {
    return include.isThere();
  }

  @Override
  public void link(Talk talk) {
    include.add(talk);
  }

  @Override
  public void unlink(Talk talk) {
    include.remove(talk);
    if (windows.filter(WindowsLink::isThere).isPresent()) {
      unlinkWindows(talk);
    }
  }

  @Override
  public boolean hasWindows() {
    return windows.isPresent();
  }

  @Override
  public void linkWindows(Talk talk) {
    List<NodeName> present;
    lock.lock();
    try {
      present = hosts;
    } finally {
      lock.unlock();
    }
    windows.orElseThrow().add(present, talk);
  }

  @Override
  public void unlinkWindows(Talk talk) {
    windows.orElseThrow().remove(talk);
  }
}
