package dev.gpush.shell.text;

import dev.gpush.core.failure.MachineFailure;

/** {@link FailureText} of ways to machines. */
final class MachineFailureText {
  private MachineFailureText() {}

  static Message of(MachineFailure failure) {
    return switch (failure) {
      case MachineFailure.UnknownHost(var machine, var reason) ->
          Message.of(
              "no machine is called " + machine, reason, "ssh -G " + ShellWords.quote(machine));
      case MachineFailure.Refused(var machine, var reason) ->
          Message.of(
              machine + " refuses connections; its ssh server does not run, or not at this port",
              reason,
              "ssh " + ShellWords.quote(machine));
      case MachineFailure.Unreachable(var machine, var reason) ->
          Message.of(machine + " does not answer", reason, "ssh -v " + ShellWords.quote(machine));
      case MachineFailure.NeedsYou(var machine, var login, var methods) ->
          Message.of(
              machine + " needs you; nothing is lost, and nothing is tried without you",
              "it asks for what only a person has: " + methods,
              "gpush login " + ShellWords.quote(login));
      case MachineFailure.KeyRefused(var machine, var login, var reason) ->
          Message.of(
              machine + " took none of your keys",
              reason + "; a key with a passphrase has to be in your agent",
              "gpush login " + ShellWords.quote(login));
      case MachineFailure.HostKeyUnknown(var machine, var login, var reason) ->
          Message.of(
              machine + " has not been seen before, so it may be somebody else",
              reason,
              "gpush login " + ShellWords.quote(login));
      case MachineFailure.HostKeyChanged(var machine, var reason) ->
          Message.of(
              machine
                  + " has another host key than before: it was made anew, or somebody is between;"
                  + " nothing was sent",
              reason,
              "ask who runs it; only if it was made anew: ssh-keygen -R "
                  + ShellWords.quote(machine));
      case MachineFailure.ProxyFailed(var machine, var reason) ->
          Message.of(
              "the machine on the way to " + machine + " does not let through",
              reason,
              "ssh -v " + ShellWords.quote(machine));
      case MachineFailure.NoSsh(var machine, var program) ->
          Message.of(
              "this machine has no " + program + ", which leads to " + machine,
              "it is not on the PATH",
              "install an OpenSSH client");
      case MachineFailure.Broken(var machine, var reason) ->
          Message.of(
              "there is no way to " + machine, reason, "ssh -v " + ShellWords.quote(machine));
    };
  }
}
