package dev.gpush.backends.hosts;

import dev.gpush.backends.hosts.local.LocalHost;
import dev.gpush.backends.hosts.local.ThisMachine;
import dev.gpush.backends.hosts.rack.Host;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.TransportSelector;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.HostRange;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the rack that a block of the configuration describes. */
public final class RackSettings {
  /** One for all users of a host, whether they work on it or behind ssh: GPUs are the host's. */
  private static final String LOCKS = "/tmp/gpush-gpus";

  /** More hosts in one inventory have not been tried. */
  private static final int MOST_HOSTS = 1024;

  private final BackendConfig config;
  private final Json values;

  private RackSettings(BackendConfig config) {
    this.config = config;
    this.values = config.values();
  }

  /** This machine as a rack of one; it is there without a block, too. */
  public static Rack local(BackendConfig config, LocalHost host) {
    var settings = new RackSettings(config);
    int most = settings.number("nodes", GangRequest.MAX_NODES);
    return settings.rack(List.of(ThisMachine.of(host)), new Rack.Shape.OneMachine(most));
  }

  /** Hosts behind ssh. */
  public static Rack ssh(BackendConfig config, TransportSelector transports) {
    var settings = new RackSettings(config);
    var shape = new Rack.Shape.HostPerNode(settings.number("cpu-nodes", 1));
    List<Host> hosts =
        settings.hosts(transports).stream().sorted(Comparator.comparing(Host::name)).toList();
    if (hosts.isEmpty()) {
      throw settings.unusable("it lists no hosts");
    }
    return settings.rack(hosts, shape);
  }

  private Rack rack(List<Host> hosts, Rack.Shape shape) {
    String scratch = values.text("scratch").orElse("");
    String locks = values.text("locks").orElse(LOCKS);
    return new Rack(config.name(), config.kind(), hosts, shape, scratch, locks);
  }

  private int number(String key, int otherwise) {
    return values.integer(key).orElse(otherwise);
  }

  private List<Host> hosts(TransportSelector transports) {
    Map<String, Host> hosts = new LinkedHashMap<>();
    try {
      for (Json item : values.items("hosts")) {
        for (String text : HostRange.expand(item.text("host").orElse(""), MOST_HOSTS)) {
          Destination destination = destination(Destination.parse(text), item);
          String plain = destination.host();
          String name = hosts.containsKey(plain) ? destination.toString() : plain;
          hosts.put(
              name,
              new SshHost(
                  name,
                  transports.to(item.text("transport")).machine(destination, config.name()),
                  item.text("address"),
                  item.text("gpus").map(GpuRequest::parse)));
        }
      }
    } catch (IllegalArgumentException wrong) {
      throw unusable(String.valueOf(wrong.getMessage()));
    }
    return List.copyOf(hosts.values());
  }

  /** What is written with the name comes before what is said of the host, and of all hosts. */
  private Destination destination(Destination written, Json item) {
    return new Destination(
        written.host(),
        written.user().or(() -> item.text("user")).or(() -> values.text("user")),
        written.port().or(() -> item.integer("port")));
  }

  private GpushException unusable(String reason) {
    return new GpushException(
        new BackendFailure.Unavailable(
            config.name(), reason, "write hosts: [NAME, …] at " + config.origin()));
  }
}
