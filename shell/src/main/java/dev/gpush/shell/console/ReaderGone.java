package dev.gpush.shell.console;

/** Standard output is no longer read: the command ends, without a failure message. */
public final class ReaderGone extends RuntimeException {
  public ReaderGone(Throwable cause) {
    super("nobody reads standard output", cause);
  }
}
