package dev.gpush.shell.console;

/**
 * Nobody reads standard output any more: the end of a command, not a failure to tell anybody about.
 */
public final class ReaderGone extends RuntimeException {
  public ReaderGone(Throwable cause) {
    super("nobody reads standard output", cause);
  }
}
