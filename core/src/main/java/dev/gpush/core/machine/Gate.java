package dev.gpush.core.machine;

import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.talk.Person;
import java.util.Optional;

/**
 * The login of a machine, which may need the user: for a password, a second factor or a new host
 * key. May be called from any thread.
 */
public interface Gate {
  /** The machine, as the user names it. */
  String name();

  /**
   * Why nothing more is tried until the user has logged in. Empty while the login works, and as
   * long as nothing else is known.
   */
  Optional<MachineFailure> closed();

  /**
   * Logs in with the user's help, unless it is open already.
   *
   * @throws dev.gpush.core.failure.GpushException when the login failed
   */
  void open(Person person) throws InterruptedException;
}
