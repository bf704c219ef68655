package dev.gpush.launch.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class NodeOutputTest {
  private final List<String> given = new ArrayList<>();

  private final class Given implements RunOutput {
    private final boolean isScreen;

    Given(boolean isScreen) {
      this.isScreen = isScreen;
    }

    @Override
    public boolean isScreen() {
      return isScreen;
    }

    @Override
    public void line(int node, int rank, boolean error, byte[] text) {
      given.add(rank + (error ? " err " : " out ") + new String(text, StandardCharsets.ISO_8859_1));
    }

    @Override
    public void rewriting(int node, int rank, boolean error, byte[] text) {
      given.add(rank + " bar " + new String(text, StandardCharsets.ISO_8859_1));
    }

    @Override
    public void restarting(int node, RunFailure failure, int restart, int most) {
      throw new IllegalStateException("a command does not restart");
    }

    @Override
    public void event(int node, String text) {
      given.add(text);
    }
  }

  private static ByteArrayInputStream printing(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Also a traceback, which runs show only once. */
  @Test
  void aPipeGetsTheLinesOfEachNodeAsTheyAre() throws IOException {
    var output = new NodeOutput(new Given(false));

    output.copy(printing("10%\r20%\r\n\u00ff\n\nend"), 0, false);
    output.copy(printing("Traceback (most recent call last):\nValueError: x\n"), 1, true);
    output.copy(printing("Traceback (most recent call last):\nValueError: x\n"), 2, true);

    assertEquals(
        List.of(
            "0 out 10%\r20%\r",
            "0 out \u00ff",
            "0 out ",
            "0 out end",
            "1 err Traceback (most recent call last):",
            "1 err ValueError: x",
            "2 err Traceback (most recent call last):",
            "2 err ValueError: x"),
        given);
  }

  @Test
  void aScreenGetsWhatATerminalWouldShow() throws IOException {
    new NodeOutput(new Given(true)).copy(printing("10%\r20%\ndone"), 3, false);

    assertEquals(List.of("3 bar 20%", "3 out 20%", "3 out done"), given);
  }
}
