package dev.gpush.gateway.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.gateway.SshAccess;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.ssh.route.NodeName;
import dev.gpush.gateway.ssh.route.PublishedSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The files in the home that ssh clients read, and their Include line in the user's own file. */
public final class SshConfigFiles implements SshAccess {
  private final Path home;
  private final IncludeLine include;
  private final SshConfigText text;
  private final String knownHosts;
  private final String wakeScript;

  /** One writer at a time, so that the last caller's sessions are what stays. */
  private final ReentrantLock lock = new ReentrantLock();

  public SshConfigFiles(SshServerSettings settings, Path keyFile, HomeIdentity identity, int port) {
    this.home = settings.home();
    this.include = new IncludeLine(settings.userConfig(), configFile());
    this.text =
        new SshConfigText(keyFile, knownHostsFile(), wakeScriptFile(), identity.name(), port);
    this.knownHosts = identity.name() + " " + identity.hostKey() + "\n";
    this.wakeScript =
        new WakeScript(
                settings.launcher(), home, new PortMemory(home).file(), identity.banner(), port)
            .text();
  }

  private Path knownHostsFile() {
    return home.resolve("known_hosts");
  }

  private Path wakeScriptFile() {
    return home.resolve("ssh_wake");
  }

  public void publish(List<PublishedSession> sessions) {
    List<NodeName> hosts = sessions.stream().flatMap(one -> one.hosts().stream()).toList();
    lock.lock();
    try {
      WholeFile.write(knownHostsFile(), knownHosts, "rw-r--r--");
      WholeFile.write(wakeScriptFile(), wakeScript, "rwx------");
      WholeFile.write(configFile(), text.of(hosts), "rw-r--r--");
    } catch (IOException failed) {
      throw unusable(configFile(), failed);
    } finally {
      lock.unlock();
    }
  }

  private static GpushException unusable(Path file, IOException failed) {
    return new GpushException(
        new GatewayFailure.HomeUnusable(file.toString(), FileReason.of(failed)), failed);
  }

  @Override
  public Path configFile() {
    return home.resolve("ssh_config");
  }

  @Override
  public String configText() {
    try {
      return Files.readString(configFile());
    } catch (IOException failed) {
      throw unusable(configFile(), failed);
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
  }
}
