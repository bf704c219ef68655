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

  void read(Wire wire, boolean all) {
    boolean stands = !sim.isHealed && sim.now - wire.upStandsUntil < 0;
    if (stands || (wire.wasConnectedThere && !wire.isConnectedThere)) {
      if (!stands) {
        wire.up.clear();
        sim.network.tidy(wire);
      }
      return;
    }
    if (!wire.isConnectedThere) {
      wire.isConnectedThere = true;
      wire.wasConnectedThere = true;
      sim.agent.connected(wire.id, sim.now);
    }
    int size = wire.up.size();
    if (size > 0) {
      byte[] some = wire.up.take(all ? size : 1 + sim.random.nextInt(size));
      sim.agent.received(wire.id, some, sim.now);
      sim.users.hearThere(sim.agent.told());
      noticeClosed(wire);
    } else if (wire.upEnds && !wire.upIsSwallowed) {
      sim.agent.disconnected(wire.id, sim.now);
      wire.isConnectedThere = false;
      wire.downEnds = true;
      sim.network.tidy(wire);
    }
  }

  private void noticeClosed(Wire wire) {
    if (!sim.agent.isOpen(wire.id)) {
      wire.isConnectedThere = false;
      wire.up.clear();
      wire.upIsBroken = true;
      wire.downEnds = true;
    }
  }

  void write(Wire wire) {
    if (!wire.hasRoomDown()) {
      return;
    }
    byte[] some = sim.agent.take(wire.id, sim.now);
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
    if (!wire.downEnds && !wire.downIsSwallowed) {
      wire.down.add(some);
    }
    sim.users.hearThere(sim.agent.told());
    noticeClosed(wire);
  }
}
