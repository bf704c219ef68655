package dev.gpush.core.failure;

/**
 * A machine cannot be reached. {@code machine} is its name as the user wrote it, {@code login} what
 * {@code gpush login} takes. Text from elsewhere in these facts is already cleaned and capped.
 */
public sealed interface MachineFailure extends Failure {
  /** Its name cannot be resolved. */
  record UnknownHost(String machine, String reason) implements MachineFailure {}

  /** The host answers, but no program listens at the port. */
  record Refused(String machine, String reason) implements MachineFailure {}

  /** Nothing answers, or there is no route to it. */
  record Unreachable(String machine, String reason) implements MachineFailure {}

  /**
   * It asks for something that only the user has. Nothing more is tried until the user has logged
   * in.
   *
   * @param methods what it asks for: {@code password}, {@code keyboard-interactive}
   */
  record NeedsYou(String machine, String login, String methods) implements MachineFailure {}

  /** No key was accepted, and it accepts nothing else. */
  record KeyRefused(String machine, String login, String reason) implements MachineFailure {}

  /** Its host key is not known yet, so it may be another machine. */
  record HostKeyUnknown(String machine, String login, String reason) implements MachineFailure {}

  /** Its host key has changed: it is another machine, or someone intercepts the connection. */
  record HostKeyChanged(String machine, String reason) implements MachineFailure {}

  /** The jump host does not connect to it. */
  record ProxyFailed(String machine, String reason) implements MachineFailure {}

  /** The client inside gpush cannot connect to it; an OpenSSH client can. */
  record NeedsOpenSsh(String machine, String reason) implements MachineFailure {}

  /** This machine has no ssh. */
  record NoSsh(String machine, String program) implements MachineFailure {}

  /** Any other failure, in ssh's own words. */
  record Broken(String machine, String reason) implements MachineFailure {}

  /** Whether it may end by itself, so that a retry makes sense. */
  default boolean mayPass() {
    return switch (this) {
      case UnknownHost _, Refused _, Unreachable _, ProxyFailed _, Broken _ -> true;
      case NeedsYou _, KeyRefused _, HostKeyUnknown _, HostKeyChanged _, NeedsOpenSsh _, NoSsh _ ->
          false;
    };
  }

  @Override
  default ExitStatus exit() {
    return ExitStatus.ENVIRONMENT;
  }
}
