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

  /** {@code sync.edit} names a node that the session does not have. */
  record NoEditNode(int node, int nodes) implements ConfigFailure {}

  record Unreadable(String file, String reason) implements ConfigFailure {}

  /** A file that gpush was asked to write is as it was. */
  record NotWritten(String file, String reason) implements ConfigFailure {
    @Override
    public ExitStatus exit() {
      return ExitStatus.ENVIRONMENT;
    }
  }

  @Override
  default ExitStatus exit() {
    return ExitStatus.USAGE;
  }
}
