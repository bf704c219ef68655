package dev.gpush.app.life;

/** The heap of a process whose collector never returns memory between collections of all of it. */
public interface Heap {
  long MEBIBYTE = 1024 * 1024;

  /** Collections so far: they come only where something is allocated. */
  long collections();

  /** What the process has taken from the system. */
  long committedBytes();

  /** What the old generation holds, with what is garbage already. */
  long oldBytes();

  /** Collects all of it, and returns to the system what is free. */
  void collect();
}
