package dev.gpush.shell.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.run.LineBlock;
import dev.gpush.shell.text.Look;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class OutputPumpTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static LineBlock block(String lines) {
    return LineBlock.of(bytes(lines), 0, bytes(lines).length);
  }

  private static String text(ByteArrayOutputStream stream) {
    return stream.toString(StandardCharsets.UTF_8);
  }

  private PrefixedLines lines(OutputStream to) {
    return new PrefixedLines(
        new OutputPump(new CommandConsole(to, err, Look.plain())), new Labels.OfRanks(8, Set.of()));
  }

  @Test
  void everyLineOfABlockHasItsPrefixAndItsPlace() {
    try (var pump = lines(out)) {
      pump.line(0, 3, false, bytes("first"));
      pump.lines(0, 3, false, block("a\n\nb\r\n"));
      pump.lines(1, 4, true, block("error\n"));
      pump.event(0, "stopping");
      pump.lines(0, -1, false, block("of the launcher\n"));
      pump.line(0, 3, false, bytes("last"));
    }

    assertEquals(
        "[3] first\n[3] a\n[3] \n[3] b\r\n[launch] of the launcher\n[3] last\n", text(out));
    assertEquals("[4] error\ngpush: stopping\n", text(err));
  }

  @Test
  void programsGetEachLineOfABlockAsAnObject() {
    try (var pump = JsonLines.ofRanks(new OutputPump(new CommandConsole(out, err, Look.plain())))) {
      pump.lines(0, 3, false, block("a\nb\n"));
    }

    assertEquals(
        2, text(out).lines().filter(line -> line.contains("\"rank\":3")).count(), text(out));
  }

  /** Larger than what is gathered at a time, with lines of all lengths. */
  @Test
  void nothingOfALargeBlockIsLostOrMixed() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    var lines = new StringBuilder();
    while (lines.length() < 2_000_000) {
      int length = random.nextInt(20) == 0 ? random.nextInt(400_000) : random.nextInt(200);
      lines.append("x".repeat(length)).append('\n');
    }

    try (var pump = lines(out)) {
      pump.lines(0, 0, false, block(lines.toString()));
    }

    String expected = lines.toString().replaceAll("(?m)^(?=[x\n])", "[0] ");
    assertEquals(expected, text(out), () -> "seed " + seed);
  }

  @Test
  void aReaderThatHasGoneEndsTheBlock() {
    OutputStream gone =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("broken pipe");
          }
        };
    LineBlock lines = block("line\n".repeat(200_000));

    try (var pump = lines(gone)) {
      assertThrows(ReaderGone.class, () -> pump.lines(0, 0, false, lines));
    }
  }
}
