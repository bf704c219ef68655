package dev.gpush.backends.transport;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import java.io.IOException;

/**
 * A logged-in connection to one machine that many commands share; one that has ended can be opened
 * again. One thread at a time opens it; everything else may be called from any thread.
 */
public interface SharedConnection {
  boolean isAlive();

  /**
   * Logs in without asking anyone.
   *
   * @throws Busy if another try makes sense
   * @throws GpushException with a {@link dev.gpush.core.failure.MachineFailure}
   */
  void open() throws IOException, InterruptedException;

  /**
   * Logs in, and lets the user answer what the machine asks.
   *
   * @return false when nobody was asked
   * @throws GpushException with a {@link dev.gpush.core.failure.MachineFailure}
   */
  boolean open(Person person) throws IOException, InterruptedException;

  /**
   * Starts a command, a line for the login shell.
   *
   * @throws Full if the machine runs no more commands on this connection
   */
  Pipe start(String command) throws IOException;

  /**
   * The gateway ends.
   *
   * @param isPersonal whether a user had to log in for it: it may stay for the next gateway
   */
  void end(boolean isPersonal) throws IOException, InterruptedException;

  /** The machine has too many logins under way, and dropped this one without a reason. */
  final class Busy extends IOException {
    private static final long serialVersionUID = 1;

    private final GpushException failure;

    public Busy(GpushException failure) {
      super(failure);
      this.failure = failure;
    }

    GpushException failure() {
      return failure;
    }
  }

  /** The machine has refused a command because others run on the connection. */
  final class Full extends IOException {
    private static final long serialVersionUID = 1;

    public Full(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
