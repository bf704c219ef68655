package dev.gpush.backends.ssh;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.Ways;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.HostRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a block of the configuration says.
 *
 * @param hosts in the one order in which all gangs take them
 * @param scratch where workspaces go; {@code ~} and variables are the host's; empty: ~/gpush
 * @param locks the folder of the locks on each host
 * @param cpuNodes how many nodes without GPUs one host is good for
 */
record SshPlace(String name, List<Host> hosts, String scratch, String locks, int cpuNodes) {
  /** More hosts in one inventory have not been tried. */
  private static final int MOST_HOSTS = 1024;

  private static final String LOCKS = "/tmp/gpush-gpus";

  SshPlace {
    hosts = List.copyOf(hosts);
  }

  static SshPlace of(BackendConfig config, Ways ways) {
    Json values = config.values();
    Optional<String> user = values.text("user");
    Map<String, Host> hosts = new LinkedHashMap<>();
    try {
      for (Json item : values.items("hosts")) {
        for (String text : HostRange.expand(item.text("host").orElse(""), MOST_HOSTS)) {
          Destination written = Destination.parse(text);
          Destination destination =
              new Destination(
                  written.host(),
                  written.user().or(() -> item.text("user")).or(() -> user),
                  written.port().or(() -> item.number("port").map(Long::intValue)));
          String name = hosts.containsKey(written.host()) ? destination.toString() : written.host();
          hosts.put(
              name,
              new Host(
                  name,
                  ways.to(item.text("transport")).machine(destination, config.name()),
                  item.text("address"),
                  item.text("gpus").map(GpuRequest::parse)));
        }
      }
    } catch (IllegalArgumentException wrong) {
      throw unusable(config, String.valueOf(wrong.getMessage()));
    }
    if (hosts.isEmpty()) {
      throw unusable(config, "it lists no hosts");
    }
    var ordered = new ArrayList<>(hosts.values());
    ordered.sort(Comparator.comparing(Host::name));
    return new SshPlace(
        config.name(),
        ordered,
        values.text("scratch").orElse(""),
        values.text("locks").orElse(LOCKS),
        values.number("cpu-nodes").orElse(1L).intValue());
  }

  private static GpushException unusable(BackendConfig config, String reason) {
    return new GpushException(
        new BackendFailure.Unavailable(
            config.name(), reason, "write hosts: [NAME, …] at " + config.origin()));
  }

  Optional<Host> host(String name) {
    return hosts.stream().filter(host -> host.name().equals(name)).findFirst();
  }

  /** The host of a node, or a failure that says that the configuration lists it no longer. */
  Host hostOf(NodeInfo node) {
    return host(node.host())
        .orElseThrow(
            () ->
                new GpushException(
                    new BackendFailure.Unavailable(
                        name, node.host() + " is not among its hosts any more", "gpush config")));
  }
}
