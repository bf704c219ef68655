package dev.gpush.backends.hosts.gang;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;

/** A failure as a few words within a larger answer, where the shell's sentences do not come. */
public final class FailureWords {
  private FailureWords() {}

  public static String of(Throwable cause) {
    return cause instanceof GpushException failed ? of(failed) : String.valueOf(cause.getMessage());
  }

  public static String of(GpushException failed) {
    return switch (failed.failure()) {
      case MachineFailure machine -> of(machine);
      case BackendFailure.Unavailable(_, var reason, _) -> reason;
      case AgentFailure.NoPython _, AgentFailure.OldPython _ ->
          "no Python there that the agent could use";
      case AgentFailure.Died(var detail) -> detail;
      default -> failed.failure().toString();
    };
  }

  private static String of(MachineFailure failure) {
    return switch (failure) {
      case MachineFailure.UnknownHost(var machine, _) -> "no machine is called " + machine;
      case MachineFailure.Refused(var machine, _) -> machine + " refuses connections";
      case MachineFailure.Unreachable(var machine, _) -> machine + " does not answer";
      case MachineFailure.NeedsYou(var machine, var login, _) ->
          machine + " needs you: gpush login " + login;
      case MachineFailure.KeyRefused(var machine, _, _) -> machine + " took none of your keys";
      case MachineFailure.HostKeyUnknown(var machine, var login, _) ->
          machine + " has not been seen before: gpush login " + login;
      case MachineFailure.HostKeyChanged(var machine, _) ->
          machine + " has another host key than before";
      case MachineFailure.ProxyFailed(var machine, _) ->
          "the machine on the way to " + machine + " does not let through";
      case MachineFailure.NoSsh _ -> "there is no ssh here";
      case MachineFailure.Broken(var machine, var reason) -> machine + ": " + reason;
    };
  }
}
