package dev.gpush.control.server;

/** Carries out commands. Called on a virtual thread of its own for each; many run at once. */
@FunctionalInterface
public interface Handler {
  /**
   * Carries out one command and gives its exit status. The thread is interrupted when the client is
   * gone, when it was told to stop and no listener takes signals, and when the gateway ends. What
   * is thrown is a bug: the client gets exit status 4 and one line.
   */
  int handle(Invocation invocation) throws InterruptedException;
}
