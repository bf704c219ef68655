package dev.gpush.core.failure;

/**
 * The way to a machine is closed. {@code machine} is its name as the user wrote it, {@code login}
 * what {@code gpush login} takes. Text from elsewhere in these facts is already cleaned and capped.
 */
public sealed interface MachineFailure extends Failure {
  /** Its name means nothing here. */
  record UnknownHost(String machine, String reason) implements MachineFailure {}

  /** Somebody is there, and nothing listens at the port. */
  record Refused(String machine, String reason) implements MachineFailure {}

  /** Nothing answers, or the network does not lead there. */
  record Unreachable(String machine, String reason) implements MachineFailure {}

  /**
   * It wants what only a person has. Nothing is tried any more until one has logged in.
   *
   * @param methods what it would take: {@code password}, {@code keyboard-interactive}
   */
  record NeedsYou(String machine, String login, String methods) implements MachineFailure {}

  /** No key was taken, and it takes nothing else. */
  record KeyRefused(String machine, String login, String reason) implements MachineFailure {}

  /** It has not been seen before, so nobody knows whether it is the right one. */
  record HostKeyUnknown(String machine, String login, String reason) implements MachineFailure {}

  /** It has another key than it had: another machine, or somebody between. */
  record HostKeyChanged(String machine, String reason) implements MachineFailure {}

  /** The machine between does not let through. */
  record ProxyFailed(String machine, String reason) implements MachineFailure {}

  /** This machine has no ssh. */
  record NoSsh(String machine, String program) implements MachineFailure {}

  /** What is none of the others, in ssh's own words. */
  record Broken(String machine, String reason) implements MachineFailure {}

  /** Whether it may be over by itself, so that trying again makes sense. */
  default boolean mayPass() {
    return switch (this) {
      case UnknownHost _, Refused _, Unreachable _, ProxyFailed _, Broken _ -> true;
      case NeedsYou _, KeyRefused _, HostKeyUnknown _, HostKeyChanged _, NoSsh _ -> false;
    };
  }

  @Override
  default ExitStatus exit() {
    return ExitStatus.ENVIRONMENT;
  }
}
