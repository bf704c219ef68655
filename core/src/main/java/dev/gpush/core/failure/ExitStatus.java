package dev.gpush.core.failure;

import java.util.List;
import java.util.Set;

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

  /** Commands whose status is that of what they run, for which failures of gpush are one number. */
  private static final Set<String> PASSING = Set.of("run", "exec", "ssh", "logs");

  private final int number;

  ExitStatus(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }

  /**
   * The status of a failure of gpush's own.
   *
   * @param words of the command line
   */
  public ExitStatus of(List<String> words) {
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      if (word.equals("-s") || word.equals("--session")) {
        i++;
      } else if (!word.startsWith("-")) {
        return this != INTERRUPTED && PASSING.contains(word) ? OWN : this;
      }
    }
    return this;
  }
}
