package dev.gpush.shell.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.shell.text.Look;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class CommandConsoleTest {
  private static final Look TERMINAL = new Look(true, true, 20, 20);

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private static OutputStream broken() {
    return new OutputStream() {
      @Override
      public void write(int value) throws IOException {
        throw new IOException("broken pipe");
      }
    };
  }

  private String seen() {
    return err.toString(StandardCharsets.UTF_8).replace("\u001b", "ESC");
  }

  @Test
  void dataAndTalkGoTheirOwnWays() {
    var console = new CommandConsole(out, err, Look.plain());

    console.out("data");
    console.err("talk");

    assertEquals("data\n", out.toString(StandardCharsets.UTF_8));
    assertEquals("talk\n", seen());
  }

  @Test
  void withoutAReaderOfTalkTheCommandGoesOn() {
    var console = new CommandConsole(out, broken(), TERMINAL);

    console.err("talk");
    console.progress("waiting");
    console.out("data");

    assertEquals("data\n", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void withoutAReaderOfDataItEnds() {
    var console = new CommandConsole(broken(), err, TERMINAL);

    assertThrows(ReaderGone.class, () -> console.out("data"));
  }

  @Test
  void progressIsDimAndCut() {
    var console = new CommandConsole(out, err, TERMINAL);

    console.progress("waiting for 2 nodes of hpc");

    assertEquals("\rESC[2mwaiting for 2 node…ESC[0mESC[K", seen());
  }

  @Test
  void onATerminalTheEchoOfKeysIsTakenAway() {
    new CommandConsole(out, err, TERMINAL).freshLine();
    new CommandConsole(out, err, Look.plain()).freshLine();

    assertEquals("\rESC[K", seen());
  }
}
