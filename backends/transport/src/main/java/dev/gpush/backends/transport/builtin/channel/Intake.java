package dev.gpush.backends.transport.builtin.channel;

import net.schmizz.sshj.common.SSHException;

/**
 * Whether what comes on a channel is still wanted. Data that comes after our end has closed its
 * stream would end the whole connection, so a channel that is dropped throws it away; and nothing
 * is on its way into a stream while that is closed.
 */
final class Intake {
  private final Object dropping = new Object();
  // guarded by dropping, for writing
  private volatile boolean isDropped;

  @FunctionalInterface
  interface Delivery {
    void deliver() throws SSHException;
  }

  boolean isDropped() {
    return isDropped;
  }

  /** Nobody reads any more. */
  void drop(Runnable closeStreams) {
    synchronized (dropping) {
      isDropped = true;
      closeStreams.run();
    }
  }

  void take(Delivery delivery) throws SSHException {
    synchronized (dropping) {
      if (!isDropped) {
        delivery.deliver();
      }
    }
  }
}
