package dev.gpush.backends.transport;

/** A way of reaching machines by ssh. Thread-safe. */
public interface Transport extends AutoCloseable {
  /**
   * The machine there; nothing is tried yet. Asked again, it is the same one.
   *
   * @param login what {@code gpush login} takes to open the way
   */
  RemoteMachine machine(Destination destination, String login);

  /** Ends what was opened without a person; what one has opened stays for the next gateway. */
  @Override
  void close();
}
