package dev.gpush.shell.text;

import dev.gpush.core.failure.MachineFailure;

/** {@link FailureText} of connections to machines. */
final class MachineFailureText {
  private MachineFailureText() {}

  static Message of(MachineFailure failure) {
    return switch (failure) {
      case MachineFailure.UnknownHost(var machine, var reason) ->
          Message.of("cannot find the host " + machine, reason, "ssh -G " + Clean.word(machine));
      case MachineFailure.Refused(var machine, var reason) ->
          Message.of(
              machine + " refuses connections; its ssh server is not running, or uses another port",
              reason,
              "ssh " + Clean.word(machine));
      case MachineFailure.Unreachable(var machine, var reason) ->
          Message.of(machine + " does not answer", reason, "ssh -v " + Clean.word(machine));
      case MachineFailure.NeedsYou(var machine, var login, var methods) ->
          Message.of(
              machine + " needs you to log in; nothing is lost",
              "only you can give what it asks for: " + methods,
              "gpush login " + Clean.word(login));
      case MachineFailure.KeyRefused(var machine, var login, var reason) ->
          Message.of(
              machine + " accepted none of your keys",
              reason + "; a key with a passphrase must be in your ssh agent",
              "gpush login " + Clean.word(login));
      case MachineFailure.HostKeyUnknown(var machine, var login, var reason) ->
          Message.of(
              "the host key of " + machine + " is not known yet",
              reason,
              "gpush login " + Clean.word(login));
      case MachineFailure.HostKeyChanged(var machine, var reason) ->
          Message.of(
              machine
                  + " has another host key than before: the host was reinstalled, or someone is"
                  + " intercepting the connection; nothing was sent",
              reason,
              "ask its administrator; only if it was reinstalled: ssh-keygen -R "
                  + Clean.word(machine));
      case MachineFailure.ProxyFailed(var machine, var reason) ->
          Message.of(
              "the jump host of " + machine + " does not connect to it",
              reason,
              "ssh -v " + Clean.word(machine));
      case MachineFailure.NeedsOpenSsh(var machine, var reason) ->
          Message.of(
              machine + " needs an OpenSSH client; the one inside gpush cannot connect to it",
              reason,
              "install an OpenSSH client, and use transport: openssh");
      case MachineFailure.NoSsh(var machine, var program) ->
          Message.of(
              machine + " is reached by " + program + ", which is not installed here",
              "it is not on the PATH",
              "install an OpenSSH client");
      case MachineFailure.Broken(var machine, var reason) ->
          Message.of("cannot connect to " + machine, reason, "ssh -v " + Clean.word(machine));
    };
  }
}
