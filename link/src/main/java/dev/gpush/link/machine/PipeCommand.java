package dev.gpush.link.machine;

/** What the driver does to pipes for the machine, each with the number that the machine gave it. */
public sealed interface PipeCommand {
  int pipe();

  /**
   * Open a pipe and answer with {@link LinkMachine#pipeOpened} or {@link LinkMachine#pipeFailed}.
   */
  record Open(int pipe) implements PipeCommand {}

  /** Close it, or stop opening it. The pipe in use is reported by {@link LinkMachine#pipeEnded}. */
  record Close(int pipe) implements PipeCommand {}
}
