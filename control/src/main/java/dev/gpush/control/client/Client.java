package dev.gpush.control.client;

import dev.gpush.control.place.RawWords;
import dev.gpush.control.place.ThisProcess;
import java.nio.file.Path;
import java.util.List;

/** The program behind {@code gpush COMMAND …}: one request on this process's streams. */
public final class Client {
  private Client() {}

  public static void main(String[] arguments) {
    if (arguments.length == 2 && arguments[0].equals(ProxyPipe.WORD)) {
      System.exit(ProxyPipe.run(Path.of(arguments[1]), System.in, System.out));
    }
    var console = ProcessConsole.once(ThisProcess.facts());
    List<String> words = RawWords.arguments(arguments);
    int status = new ControlClient(ThisProcess.origin()).run(words, console);
    System.exit(status);
  }
}
