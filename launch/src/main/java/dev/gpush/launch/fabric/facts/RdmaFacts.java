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
    Optional<List<RdmaPort>> ports = Optional.empty();
    if (json.isList("rdma")) {
      ports =
          Optional.of(
              json.objects("rdma").stream().flatMap(port -> RdmaPort.read(port).stream()).toList());
    } else if (!json.has("rdma") && canBeMissing) {
      ports = Optional.of(List.of());
    } else {
      json.objects("rdma");
    }
    return new RdmaFacts(ports, json.whole("memlock").filter(bytes -> bytes >= -1));
  }
}
