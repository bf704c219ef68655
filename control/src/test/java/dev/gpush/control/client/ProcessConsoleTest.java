package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.control.client.terminal.Console;
import dev.gpush.control.place.Origin;
import dev.gpush.control.wire.Facts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** The console of the interactive shell, whose process goes on after a request. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class ProcessConsoleTest {
  private static final Signal CONTROL_Z = new Signal("TSTP");
  private static final int NUMBER = 20;

  @TempDir Path folder;

  private ProcessConsole console() {
    return console(folder);
  }

  private ProcessConsole console(Path at) {
    var begun = new Origin(folder, "build", Path.of("/"), Map.of(), 1, List.of());
    return ProcessConsole.continuing(Facts.NONE, begun.in(at));
  }

  /** What Ctrl-Z does now. */
  private static SignalHandler handler() {
    SignalHandler now = Signal.handle(CONTROL_Z, SignalHandler.SIG_IGN);
    Signal.handle(CONTROL_Z, now);
    return now;
  }

  @Test
  void programsStartInTheFolderOfTheShell() throws IOException {
    int status =
        console()
            .spawn(
                List.of("sh", "-c", "pwd >at; echo $PWD $OLDPWD $A >>at; exit 3"),
                Map.of("A", "b"));

    assertEquals(3, status);
    assertEquals(List.of("" + folder, folder + " / b"), Files.readAllLines(folder.resolve("at")));
  }

  @Test
  void aFolderThatIsGoneIsTheReason() {
    Path gone = folder.resolve("gone");

    assertEquals(
        "the folder " + gone + " is gone\n  try: cd", console(gone).reason(new IOException("no")));
    assertEquals(127, console(gone).spawn(List.of("true"), Map.of()));
  }

  @Test
  void controlZIsHeardWhileARequestHasTheTerminalAndSuspendsWhileAProgramHasIt() throws Exception {
    ProcessConsole console = console();
    var heard = new LinkedBlockingQueue<String>();
    SignalHandler before = handler();
    try (Console.Signals _ = console.listen(heard::add)) {
      Signal.raise(CONTROL_Z);
      assertEquals("TSTP", heard.take());

      SignalHandler listening = handler();
      console.spawn(List.of("sh", "-c", "grep SigCgt /proc/$PPID/status >caught"), Map.of());
      String caught = Files.readString(folder.resolve("caught")).split("\\s+", -1)[1];
      assertEquals(0, Long.parseUnsignedLong(caught, 16) & (1L << (NUMBER - 1)), caught);
      assertEquals(listening, handler());
    }
    assertEquals(before, handler());
  }
}
