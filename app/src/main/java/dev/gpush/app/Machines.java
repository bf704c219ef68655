package dev.gpush.app;

import dev.gpush.backends.hosts.local.LocalHost;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.hub.HubMachine;
import java.security.SecureRandom;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The machines that backends work on: this one, those behind ssh, and hubs on them. Thread-safe.
 */
final class Machines implements AutoCloseable {
  private final LocalHost host;
  private final AgentProgram agent;
  private final String holder;
  private final LinkTiming timing;
  private final Tasks tasks;
  private final Clock clock;
  private final SecureRandom random;
  private final ConcurrentHashMap<Machine, HubMachine> hubs = new ConcurrentHashMap<>();

  Machines(
      LocalHost host,
      AgentProgram agent,
      String holder,
      LinkTiming timing,
      Tasks tasks,
      Clock clock,
      SecureRandom random) {
    this.host = host;
    this.agent = agent;
    this.holder = holder;
    this.timing = timing;
    this.tasks = tasks;
    this.clock = clock;
    this.random = random;
  }

  /** All commands on it share one connection and one channel. */
  Machine hub(Machine remote) {
    return hubs.computeIfAbsent(
        remote,
        _ -> new HubMachine(remote, agent, holder, HubMachine.LEAVE, timing, tasks, clock, random));
  }

  /** This machine, with the gateway's own environment. */
  Machine here() {
    return host.machine(host.environment());
  }

  @Override
  public void close() {
    hubs.values().forEach(HubMachine::close);
  }
}
