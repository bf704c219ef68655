package dev.gpush.backends.transport;

import java.util.Optional;

/** The transports of one place: which one is taken where. */
@FunctionalInterface
public interface TransportSelector {
  /**
   * The one to take to a host.
   *
   * @param wished openssh or builtin, where the host says so itself
   */
  Transport to(Optional<String> wished);
}
