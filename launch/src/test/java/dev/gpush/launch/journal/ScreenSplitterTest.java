package dev.gpush.launch.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.run.LineBlock;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a terminal would show of what a rank writes. */
final class ScreenSplitterTest {
  private final List<String> shown = new ArrayList<>();
  private final ScreenSplitter splitter =
      new ScreenSplitter(
          new Splitter.Lines() {
            @Override
            public void line(byte[] text) {
              shown.add("line " + new String(text, StandardCharsets.UTF_8));
            }

            @Override
            public void lines(LineBlock lines) {
              throw new AssertionError("each line may be rewritten");
            }

            @Override
            public void rewriting(byte[] text) {
              shown.add("bar " + new String(text, StandardCharsets.UTF_8));
            }
          });

  private void feed(String text) {
    splitter.feed(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aBarShowsItsPresentStateAndEndsAsALine() {
    feed("\r  0%|  | 0/2");
    feed("\r 50%|# | 1/2\r100%|##| 2/2");
    feed("\n");

    assertEquals(
        List.of("bar   0%|  | 0/2", "bar 100%|##| 2/2", "bar 100%|##| 2/2", "line 100%|##| 2/2"),
        shown);
  }

  @Test
  void carriageReturnsAtTheEndOfEachStateAreABarToo() {
    feed("1 of 3\r");
    feed("2 of 3\r");
    feed("3 of 3\r\n");

    assertEquals(List.of("bar 2 of 3", "bar 3 of 3", "line 3 of 3"), shown);
  }

  @Test
  void linesOfWindowsAreLines() {
    feed("one\r\ntwo\r");
    feed("\nthree");
    splitter.end();

    assertEquals(List.of("line one", "line two", "line three"), shown);
  }

  @Test
  void aBarThatWasWipedIsGoneAndTheNextLineIsALine() {
    feed("\r 50%|# |");
    feed("\r        \repoch 1 done\n");

    assertEquals(List.of("bar  50%|# |", "bar ", "line epoch 1 done"), shown);
  }

  @Test
  void ofAVeryLongLineTheBeginningIsGivenWithItsSize() {
    byte[] piece = new byte[64 * 1024];
    Arrays.fill(piece, (byte) 'x');
    for (int i = 0; i < 16; i++) {
      splitter.feed(piece);
    }
    feed("\nnext\n");

    assertEquals(2, shown.size());
    assertEquals(
        "line "
            + "x".repeat(ScreenSplitter.MOST)
            + " … ("
            + (16 * piece.length - ScreenSplitter.MOST)
            + " more bytes in this line)",
        shown.getFirst());
    assertEquals("line next", shown.getLast());
  }

  @Test
  void theLinesAreTheSameAtAnyChunking() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    byte[] text = "a\r\n\r1%\r2%\nmsg\r   \rnew\nlast".getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 200; i++) {
      shown.clear();
      for (int at = 0; at < text.length; ) {
        int end = Math.min(text.length, at + 1 + random.nextInt(6));
        splitter.feed(Arrays.copyOfRange(text, at, end));
        at = end;
      }
      splitter.end();

      assertEquals(
          List.of("line a", "line 2%", "line new", "line last"),
          shown.stream().filter(each -> each.startsWith("line")).toList(),
          "seed " + seed);
    }
  }
}
