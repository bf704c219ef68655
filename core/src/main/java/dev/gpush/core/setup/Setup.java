package dev.gpush.core.setup;

/** Looks around for what a new user has, and writes the configuration that this comes to. */
public interface Setup {
  /**
   * Looks around, for a few seconds, and writes nothing.
   *
   * @throws dev.gpush.core.failure.GpushException when the configuration that is there has mistakes
   */
  SetupProposal propose(SetupQuestion question) throws InterruptedException;

  /**
   * Writes one file as a whole.
   *
   * @throws dev.gpush.core.failure.GpushException with {@code NotWritten}: also when the file is
   *     not as it was when the change was proposed
   */
  void write(SetupProposal.Change change);
}
