package dev.gpush.link.simulator;

import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import java.nio.charset.StandardCharsets;

/** What goes between pipes and the agent. */
final class AgentEnd {
  private final Simulation sim;

  AgentEnd(Simulation sim) {
    this.sim = sim;
  }

  void read(SimulatedPipe pipe, boolean all) {
    boolean isStalled = !sim.isHealed && sim.now - pipe.upStallsUntil < 0;
    if (isStalled || (pipe.wasConnectedThere && !pipe.isConnectedThere)) {
      if (!isStalled) {
        pipe.up.clear();
        sim.network.tidy(pipe);
      }
      return;
    }
    if (!pipe.isConnectedThere) {
      pipe.isConnectedThere = true;
      pipe.wasConnectedThere = true;
      sim.agent.connected(pipe.id, sim.now);
    }
    int size = pipe.up.size();
    if (size > 0) {
      byte[] some = pipe.up.take(all ? size : 1 + sim.random.nextInt(size));
      sim.agent.received(pipe.id, some, sim.now);
      sim.owners.handle(sim.agent.events());
      noticeClosed(pipe);
    } else if (pipe.upEnds && !pipe.upIsSwallowed) {
      sim.agent.disconnected(pipe.id, sim.now);
      pipe.isConnectedThere = false;
      pipe.downEnds = true;
      sim.network.tidy(pipe);
    }
  }

  private void noticeClosed(SimulatedPipe pipe) {
    if (!sim.agent.isOpen(pipe.id)) {
      pipe.isConnectedThere = false;
      pipe.up.clear();
      pipe.upIsBroken = true;
      pipe.downEnds = true;
    }
  }

  void write(SimulatedPipe pipe) {
    if (!pipe.hasRoomDown()) {
      return;
    }
    byte[] some = sim.agent.take(pipe.id, sim.now);
    sim.mix(some);
    if (some.length > 0 && some[4] == FrameKind.BYE.code()) {
      String bye =
          new String(
              some,
              FrameLimits.HEADER_BYTES,
              some.length - FrameLimits.HEADER_BYTES,
              StandardCharsets.UTF_8);
      Simulation.require(bye.contains("superseded"), "the agent's BYE " + bye);
    }
    if (!pipe.downEnds && !pipe.downIsSwallowed) {
      pipe.down.add(some);
    }
    sim.owners.handle(sim.agent.events());
    noticeClosed(pipe);
  }
}
