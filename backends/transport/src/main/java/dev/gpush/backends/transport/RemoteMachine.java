package dev.gpush.backends.transport;

import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Machine;

/**
 * A machine behind ssh. The first {@link #spawn} opens the shared connection, without a person;
 * once it turned out that one is needed, nothing is tried until {@link Gate#open}. What comes out
 * of a pipe is the command's own from the first byte on, whatever the login shell prints. A command
 * that never began ends with the shell's or ssh's status, and what was said is in the pipe's
 * errors.
 */
public interface RemoteMachine extends Machine, Gate {
  /** Which transport leads there, and why: for {@code gpush backends --explain}. */
  String explain();
}
