package dev.gpush.backends.transport.openssh;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.SshSettings;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.setup.HostSource;
import dev.gpush.core.setup.HostSource.ListedHost;
import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinder;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Finds logins and machines with GPUs among the hosts of the ssh configuration and of other tools.
 * Unless the user named a host, nothing is tried that could need the user: see {@link HostLook}.
 */
public final class HostFinder implements PlaceFinder {
  /** Each is a process; most only wait for a host that does not answer. */
  private static final int MOST_AT_ONCE = 64;

  /** Further hosts are tried only if the user names them. */
  private static final int MOST_HOSTS = 500;

  private static final Path NO_SOCKETS = Path.of("/nonexistent");

  private final Path home;
  private final Path own;
  private final List<HostSource> others;
  private final PlaceFinder elsewhere;
  private final Launch launch;
  private final Tasks tasks;

  /**
   * A finder.
   *
   * @param home whose .ssh ssh reads
   * @param own gpush's file of sessions
   * @param others what lists hosts besides the ssh configuration
   * @param elsewhere what knows names that are no hosts
   */
  public HostFinder(
      Path home,
      Path own,
      List<HostSource> others,
      PlaceFinder elsewhere,
      Launch launch,
      Tasks tasks) {
    this.home = home;
    this.own = own;
    this.others = List.copyOf(others);
    this.elsewhere = elsewhere;
    this.launch = launch;
    this.tasks = tasks;
  }

  @Override
  public String kind() {
    return "ssh hosts";
  }

  @Override
  public List<PlaceCheck> checks(SetupQuestion question) {
    ConfiguredHosts written;
    try {
      written = ConfiguredHosts.read(home, own);
    } catch (IOException unreadable) {
      return List.of(
          PlaceCheck.unasked(
              "ssh", "~/.ssh/config", FileReason.of(unreadable), "ls -l ~/.ssh/config"));
    }
    Map<String, ListedHost> hosts = new LinkedHashMap<>();
    others.forEach(
        source -> source.hosts(question).forEach(host -> hosts.putIfAbsent(host.host(), host)));
    written.hosts().forEach(host -> hosts.putIfAbsent(host.host(), host));
    List<ListedHost> asked =
        question.isNamed() ? named(question, hosts) : List.copyOf(hosts.values());
    var turns = new Semaphore(MOST_AT_ONCE, true);
    SshSettings settings = SshSettings.usual(NO_SOCKETS, question.environment());
    var checks = new ArrayList<PlaceCheck>();
    for (ListedHost host : asked) {
      if (checks.size() == MOST_HOSTS) {
        int left = asked.size() - MOST_HOSTS;
        checks.add(
            PlaceCheck.unasked(
                left + " hosts", host.origin(), "are too many to look at", "gpush init HOST"));
        break;
      }
      checks.add(check(host, written.execution(), question, settings, turns));
    }
    return checks;
  }

  /** Also names that no file has: ssh may know them. */
  private List<ListedHost> named(SetupQuestion question, Map<String, ListedHost> hosts) {
    List<String> others = elsewhere.checks(question).stream().map(PlaceCheck::name).toList();
    return question.names().stream()
        .filter(name -> hosts.containsKey(name) || !others.contains(name))
        .map(name -> hosts.getOrDefault(name, new ListedHost(name, Optional.empty(), "you")))
        .toList();
  }

  private PlaceCheck check(
      ListedHost host,
      Optional<String> execution,
      SetupQuestion question,
      SshSettings settings,
      Semaphore turns) {
    String name = host.host();
    if (execution.isPresent() && !question.isNamed()) {
      return PlaceCheck.unasked(name, host.origin(), execution.get(), "gpush init " + name);
    }
    try {
      var look =
          new HostLook(
              host,
              new SshCommands(settings, Destination.parse(name)),
              question.isNamed(),
              turns,
              launch,
              tasks);
      return new PlaceCheck(name, host.origin(), look);
    } catch (IllegalArgumentException noHost) {
      return PlaceCheck.unasked(name, host.origin(), "is no host for ssh", "");
    }
  }
}
