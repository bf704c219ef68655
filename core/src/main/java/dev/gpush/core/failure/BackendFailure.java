package dev.gpush.core.failure;

import java.util.List;
import java.util.Optional;

/**
 * A backend cannot grant, reach or release. Remote text in these facts is already cleaned and
 * capped.
 */
public sealed interface BackendFailure extends Failure {
  /** The request can never fit there; {@code works} are requests that would fit. */
  record NeverFits(String backend, String reason, List<String> works) implements BackendFailure {}

  /** It fits, but not now, and this backend has no queue. */
  record Taken(String backend, String what, List<String> holders) implements BackendFailure {}

  record Unknown(String backend, List<String> known, Optional<String> nearest)
      implements BackendFailure {}

  /** The backend cannot be used at all: {@code remedy} is a command or an installation step. */
  record Unavailable(String backend, String reason, String remedy) implements BackendFailure {}

  /** Reserving failed part-way; everything was rolled back. */
  record ReserveFailed(String backend, String reason) implements BackendFailure {}

  /** A registry does not give the image of the nodes; everything was rolled back. */
  record ImageRefused(String backend, String reason, String remedy) implements BackendFailure {}

  /** It did not say within this time what it could grant. */
  record NoAnswer(String backend, String waited) implements BackendFailure {}

  /** Several were asked, and none of them can; each has its own reason. */
  record Nowhere(List<Refusal> refusals) implements BackendFailure {
    public Nowhere {
      refusals = List.copyOf(refusals);
    }
  }

  /** Why one of several backends cannot grant it. */
  record Refusal(String backend, Failure failure) {}

  /** What was released still exists, or its state is unknown. */
  record NotReleased(String backend, String gang, String reason) implements BackendFailure {}

  @Override
  default ExitStatus exit() {
    return switch (this) {
      case NeverFits _, Taken _, ReserveFailed _, ImageRefused _, NotReleased _ ->
          ExitStatus.FAILED;
      case Nowhere(var refusals) ->
          refusals.stream().allMatch(each -> each.failure().exit() == ExitStatus.ENVIRONMENT)
              ? ExitStatus.ENVIRONMENT
              : ExitStatus.FAILED;
      case Unknown _ -> ExitStatus.USAGE;
      case Unavailable _, NoAnswer _ -> ExitStatus.ENVIRONMENT;
    };
  }
}
