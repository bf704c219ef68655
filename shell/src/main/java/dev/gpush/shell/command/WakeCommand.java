package dev.gpush.shell.command;

import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import picocli.CommandLine.Command;

/**
 * Called by ssh before it connects. It does nothing, because a command that runs proves that the
 * gateway is up.
 */
@Command(name = "__wake", header = "Start the gateway")
final class WakeCommand implements Action {
  @Override
  public int run(Call call) {
    call.toldShells().begin(call.environment());
    return 0;
  }
}
