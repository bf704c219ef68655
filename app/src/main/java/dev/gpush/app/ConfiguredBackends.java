package dev.gpush.app;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.local.LocalHost;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.kubernetes.KubernetesBackend;
import dev.gpush.backends.slurm.SlurmBackend;
import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.BackendView;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.Message;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.hub.HubMachine;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes the adapter of each configured backend; the only class that knows the kinds. Thread-safe.
 */
final class ConfiguredBackends implements Backends, AutoCloseable {
  private final Configs configs;
  private final LocalHost host;
  private final AgentProgram agent;
  private final Transports transports;
  private final String holder;
  private final LinkTiming timing;
  private final Clock clock;
  private final SecureRandom random;
  private final Tasks tasks;

  /** By configuration block, so that an edited block is another backend. */
  private final ConcurrentHashMap<BackendConfig, Backend> made = new ConcurrentHashMap<>();

  private final ConcurrentHashMap<Machine, HubMachine> hubs = new ConcurrentHashMap<>();

  ConfiguredBackends(
      Configs configs,
      LocalHost host,
      AgentProgram agent,
      Transports transports,
      String holder,
      LinkTiming timing,
      Clock clock,
      SecureRandom random,
      Tasks tasks) {
    this.configs = configs;
    this.host = host;
    this.agent = agent;
    this.transports = transports;
    this.holder = holder;
    this.timing = timing;
    this.clock = clock;
    this.random = random;
    this.tasks = tasks;
  }

  @Override
  public List<Backend> of(Config config) {
    var backends = new ArrayList<Backend>();
    for (String name : config.order()) {
      config.backends().stream()
          .filter(block -> block.name().equals(name))
          .findFirst()
          .map(this::backend)
          .ifPresent(backends::add);
    }
    return List.copyOf(backends);
  }

  @Override
  public Optional<Backend> named(String name) {
    return configs.load(host.home()).backends().stream()
        .filter(block -> block.name().equals(name))
        .findFirst()
        .map(this::backend);
  }

  @Override
  public List<BackendView> views(Config config) {
    var views = new ArrayList<BackendView>();
    for (BackendConfig block : config.backends()) {
      try {
        Backend backend = backend(block);
        views.add(
            new BackendView(block.name(), block.kind(), true, backend.describe(), block.origin()));
      } catch (GpushException unusable) {
        views.add(
            new BackendView(block.name(), block.kind(), false, words(unusable), block.origin()));
      }
    }
    return List.copyOf(views);
  }

  private static String words(GpushException unusable) {
    Message message = new FailureText(List.of("backends")).of(unusable.failure());
    return message.what() + "; " + message.because().getFirst() + "; try: " + message.remedy();
  }

  private Backend backend(BackendConfig block) {
    return made.computeIfAbsent(block, this::make);
  }

  /** With a login node all commands go through a hub on it; without one gpush itself runs there. */
  private Backend slurm(BackendConfig block) {
    Optional<RemoteMachine> remote =
        block
            .values()
            .text("login")
            .map(Destination::parse)
            .map(login -> transports.of(block).to(Optional.empty()).machine(login, block.name()));
    Machine machine = remote.map(this::hub).orElseGet(() -> host.machine(host.environment()));
    List<Gate> gates = List.copyOf(remote.stream().toList());
    return SlurmBackend.of(block, machine, gates, agent, tasks, clock, random)
        .keeping(new MovedBackend.KeptPlace(block, this::backend));
  }

  /** All commands on it share one connection and one channel. */
  private Machine hub(Machine remote) {
    return hubs.computeIfAbsent(
        remote,
        _ -> new HubMachine(remote, agent, holder, HubMachine.LEAVE, timing, tasks, clock, random));
  }

  private Backend hosts(BackendConfig block) {
    Rack rack = RackSettings.ssh(block, transports.of(block));
    return new HostsBackend(
        rack, agent, random, tasks, new MovedBackend.KeptPlace(block, this::backend));
  }

  private Backend make(BackendConfig block) {
    return switch (block.kind()) {
      case "ssh" -> hosts(block);
      case "local" -> new HostsBackend(RackSettings.local(block, host), agent, random, tasks);
      case "slurm" -> slurm(block);
      case "kubernetes" ->
          KubernetesBackend.of(block, host.environment(), agent, tasks, clock, random);
      default ->
          throw new IllegalStateException("a kind that the schema should refuse: " + block.kind());
    };
  }

  @Override
  public void close() {
    hubs.values().forEach(HubMachine::close);
  }
}
