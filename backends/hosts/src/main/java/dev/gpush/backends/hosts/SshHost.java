package dev.gpush.backends.hosts;

import dev.gpush.backends.hosts.rack.Host;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.talk.Person;
import java.util.Optional;

/**
 * A host behind ssh.
 *
 * @param address where the other hosts reach it, if not where we do
 */
record SshHost(
    String name, RemoteMachine remote, Optional<String> address, Optional<GpuRequest> gpus)
    implements Host {
  @Override
  public Machine machine() {
    return remote;
  }

  @Override
  public Optional<Gate> gate() {
    return Optional.of(new HostGate(name, remote));
  }

  /** By the name that its node has. */
  private record HostGate(String name, RemoteMachine machine) implements Gate {
    @Override
    public Optional<MachineFailure> closed() {
      return machine.closed();
    }

    @Override
    public void open(Person person) throws InterruptedException {
      machine.open(person);
    }
  }

  @Override
  public Optional<String> explain() {
    return Optional.of(remote.explain());
  }
}
