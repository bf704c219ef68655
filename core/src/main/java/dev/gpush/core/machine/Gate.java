package dev.gpush.core.machine;

import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.talk.Person;
import java.util.Optional;

/**
 * The way to a machine, where a person may be needed: a password, a second factor, a new host key.
 * May be called from any thread.
 */
public interface Gate {
  /** The machine, as the user names it. */
  String name();

  /**
   * Why nothing is tried any more until a person has come. Empty while the way is open, and as long
   * as nobody knows otherwise.
   */
  Optional<MachineFailure> closed();

  /**
   * Opens the way with a person there, or finds it open.
   *
   * @throws dev.gpush.core.failure.GpushException when it stays closed
   */
  void open(Person person) throws InterruptedException;
}
