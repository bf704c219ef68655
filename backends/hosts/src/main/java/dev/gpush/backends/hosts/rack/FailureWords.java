package dev.gpush.backends.hosts.rack;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;

/** A failure as the reason within a larger answer that names the host already. */
public final class FailureWords {
  private FailureWords() {}

  public static String of(Throwable cause) {
    return cause instanceof GpushException failed ? of(failed) : String.valueOf(cause.getMessage());
  }

  public static String of(GpushException failed) {
    return switch (failed.failure()) {
      case BackendFailure.Unavailable(_, var reason, _) -> reason;
      case AgentFailure.Died(var detail) -> detail;
      case Failure other -> FailureText.clause(other);
    };
  }
}
