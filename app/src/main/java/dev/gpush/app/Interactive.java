package dev.gpush.app;

import dev.gpush.control.place.ThisProcess;
import dev.gpush.shell.loop.Loop;

/** The interactive shell's process: the client with a line editor in front. */
public final class Interactive {
  private Interactive() {}

  public static void main(String[] arguments) {
    System.exit(Loop.run(ThisProcess.origin()));
  }
}
