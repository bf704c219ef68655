package dev.gpush.core.failure;

import java.util.List;
import java.util.Optional;

/** A configuration file cannot be used. */
public sealed interface ConfigFailure extends Failure {
  /** One thing wrong in a file: shown as {@code FILE:LINE:COLUMN key: what, did you mean …}. */
  record Problem(
      String file, int line, int column, String key, String what, Optional<String> suggestion) {}

  /** All problems of all files, found in one pass. */
  record Invalid(List<Problem> problems) implements ConfigFailure {
    public Invalid {
      problems = List.copyOf(problems);
    }
  }

  /**
   * A value has a form that does not work yet, and going on without it would lose something.
   *
   * @param origin the file and line
   * @param reason what is missing and what works instead
   */
  record Unsupported(String key, String value, String origin, String reason)
      implements ConfigFailure {}

  record Unreadable(String file, String reason) implements ConfigFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.USAGE;
  }
}
