package dev.gpush.launch.fabric.facts;

import java.util.List;
import java.util.Optional;

/**
 * RDMA on one node.
 *
 * @param ports absent where it could not be read whether there are any
 * @param memlock how many bytes a process may lock; -1 is unlimited
 */
public record RdmaFacts(Optional<List<RdmaPort>> ports, Optional<Long> memlock) {
  public RdmaFacts {
    ports = ports.map(List::copyOf);
  }

  static RdmaFacts read(FactReader json, boolean canBeMissing) {
    boolean isKnown = json.isList("rdma") || (!json.has("rdma") && canBeMissing);
    List<RdmaPort> ports =
        json.objects("rdma").stream().flatMap(port -> RdmaPort.read(port).stream()).toList();
    return new RdmaFacts(
        Optional.of(ports).filter(_ -> isKnown),
        json.whole("memlock").filter(bytes -> bytes >= -1));
  }
}
