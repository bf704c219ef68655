package dev.gpush.control.server;

/** Carries out commands. Each call has its own virtual thread; many run at once. */
@FunctionalInterface
public interface Handler {
  /**
   * Carries out one command and gives its exit status. The thread is interrupted when the client is
   * gone, when a signal comes and there is no listener, and when the gateway ends. An exception is
   * a bug: the client gets exit status 4 and one line.
   */
  int handle(Invocation invocation) throws InterruptedException;
}
