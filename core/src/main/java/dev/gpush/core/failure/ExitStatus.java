package dev.gpush.core.failure;

/**
 * What a gpush command's exit status means; run and exec give the remote status instead, and {@link
 * #OWN} for gpush's own failure.
 */
public enum ExitStatus {
  DONE(0),
  FAILED(1),
  USAGE(2),
  ENVIRONMENT(3),
  BUG(4),
  INTERRUPTED(130),
  /** Of a command that the user left by Ctrl-Z, as a shell gives it. */
  LEFT(148),
  OWN(255);

  private final int number;

  ExitStatus(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }
}
