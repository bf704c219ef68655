package dev.gpush.shell.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.shell.text.Look;
import dev.gpush.testkit.fake.ManualClock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a person sees of a run with four ranks. */
final class ScreenOutputTest {
  private final ManualClock clock = new ManualClock();
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Runnable tick = () -> {};

  private ScreenOutput screen(Set<Integer> only, boolean isFolded) {
    return screen(new Labels.OfRanks(4, only), isFolded ? ScreenOutput.RANKS : Duration.ZERO);
  }

  private ScreenOutput screen(Labels labels, Duration patience) {
    return screen(out, labels, patience);
  }

  private ScreenOutput screen(OutputStream to, Labels labels, Duration patience) {
    return new ScreenOutput(
        new CommandConsole(to, err, new Look(true, false, 60, 60)),
        labels,
        patience,
        clock,
        each -> {
          tick = each;
          return () -> {};
        });
  }

  private static void print(ScreenOutput screen, int rank, String text) {
    screen.line(0, rank, false, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void bar(ScreenOutput screen, int rank, String text) {
    screen.rewriting(0, rank, true, text.getBytes(StandardCharsets.UTF_8));
  }

  private void pass(int milliseconds) {
    clock.advance(Duration.ofMillis(milliseconds));
    tick.run();
  }

  private List<String> lines() {
    return out.toString(StandardCharsets.UTF_8).replace("\u001b", "ESC").lines().toList();
  }

  private String bars() {
    String text = err.toString(StandardCharsets.UTF_8);
    err.reset();
    return text.replace("\u001b[K", "<clear>").replace("\r", "<start>");
  }

  @Test
  void whatAllRanksPrintIsOneLineAndTheOddRankHasItsNumber() {
    try (ScreenOutput screen = screen(Set.of(), true)) {
      IntStream.range(0, 4).forEach(rank -> print(screen, rank, "loading"));
      IntStream.range(0, 4).forEach(rank -> print(screen, rank, "GPU " + (rank == 2 ? 7 : 0)));
      IntStream.range(0, 4).forEach(rank -> print(screen, rank, "ready"));
    }

    assertEquals(
        List.of("[all 4] loading", "[0,1,3] GPU 0", "[2] GPU 7", "[all 4] ready"), lines());
  }

  @Test
  void aLineOfOneRankWaitsForTheOthersOnlyAMoment() {
    ScreenOutput screen = screen(Set.of(), true);
    print(screen, 0, "step 1");
    pass(200);
    print(screen, 1, "step 1");
    pass(99);
    print(screen, 0, "step 2");
    assertEquals(List.of(), lines());

    pass(1);
    print(screen, 3, "step 1");
    screen.close();

    assertEquals(List.of("[0,1] step 1", "[0] step 2", "[3] step 1"), lines());
  }

  @Test
  void theLinesOfARankStayInTheirOrder() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    String[] texts = {"a", "b", "c"};
    var printed =
        new StringBuilder[] {
          new StringBuilder(), new StringBuilder(), new StringBuilder(), new StringBuilder()
        };
    try (ScreenOutput screen = screen(Set.of(), true)) {
      for (int i = 0; i < 3000; i++) {
        int rank = random.nextInt(4);
        String text = texts[random.nextInt(texts.length)];
        print(screen, rank, text);
        printed[rank].append(text);
        if (random.nextInt(10) == 0) {
          pass(random.nextInt(400));
        }
      }
    }

    var seen =
        new StringBuilder[] {
          new StringBuilder(), new StringBuilder(), new StringBuilder(), new StringBuilder()
        };
    for (String line : lines()) {
      String who = line.substring(1, line.indexOf(']')).replace("all 4", "0-3");
      for (String part : who.split(",")) {
        String[] ends = part.split("-");
        for (int rank = Integer.parseInt(ends[0]);
            rank <= Integer.parseInt(ends[ends.length - 1]);
            rank++) {
          seen[rank].append(line.substring(line.indexOf(' ', line.indexOf(']')) + 1));
        }
      }
    }
    for (int rank = 0; rank < 4; rank++) {
      assertEquals(printed[rank].toString(), seen[rank].toString(), "seed " + seed);
    }
  }

  @Test
  void aThreadThatIsStoppedLeavesItsLinesToTheOthers() throws Exception {
    var isWriting = new CountDownLatch(1);
    var isFree = new CountDownLatch(1);
    var slow =
        new OutputStream() {
          @Override
          public void write(int value) {
            out.write(value);
          }

          @Override
          public void write(byte[] bytes, int from, int length) throws IOException {
            isWriting.countDown();
            try {
              isFree.await();
            } catch (InterruptedException stop) {
              throw new IOException(stop);
            }
            out.write(bytes, from, length);
          }
        };
    try (ScreenOutput screen = screen(slow, new Labels.OfRanks(4, Set.of()), Duration.ZERO)) {
      print(screen, 0, "first");
      isWriting.await();
      print(screen, 1, "second");
      Thread.currentThread().interrupt();
      byte[] error = "error".getBytes(StandardCharsets.UTF_8);
      assertThrows(ReaderGone.class, () -> screen.line(0, 2, true, error));
      assertTrue(Thread.interrupted());
      isFree.countDown();
      print(screen, 3, "last");
    }

    assertEquals(List.of("[0] first", "[1] second", "[3] last"), lines());
    assertEquals("[2] error\n", bars());
  }

  @Test
  void aFloodLeavesWithoutWaiting() {
    ScreenOutput screen = screen(Set.of(), true);
    IntStream.range(0, 5000).forEach(i -> print(screen, 0, "line " + i));
    screen.close();

    assertEquals(5000, lines().size());
    assertEquals("[0] line 4999", lines().getLast());
  }

  @Test
  void aSelectionIsAlikeWhenAllOfItIs() {
    try (ScreenOutput screen = screen(Set.of(1, 3), true)) {
      print(screen, 1, "x");
      print(screen, 3, "x");
      assertEquals(List.of("[1,3] x"), written(screen));
    }
  }

  /** Closing waits until the writer has written. */
  private List<String> written(ScreenOutput screen) {
    screen.close();
    return lines();
  }

  @Test
  void whatNodesPrintAlikeIsOneLineThatNamesThem() {
    try (ScreenOutput screen = screen(new Labels.OfNodes(16), ScreenOutput.NODES)) {
      IntStream.range(0, 16).forEach(node -> print(screen, node, "driver 570"));
      IntStream.range(0, 16).forEach(node -> print(screen, node, "card " + (node == 7)));
      IntStream.range(0, 16).forEach(node -> print(screen, node, "half " + node % 2));
    }

    assertEquals(
        List.of(
            "nodes 0-15: driver 570",
            "nodes 0-6,8-15: card false",
            "node 7: card true",
            "8 of 16 nodes: half 0",
            "8 of 16 nodes: half 1"),
        lines());
  }

  @Test
  void aNodeWhoseLinesComeAloneWaitsForASecond() {
    ScreenOutput screen = screen(new Labels.OfNodes(2), ScreenOutput.NODES);
    print(screen, 0, "step 1");
    pass(900);
    print(screen, 1, "step 1");
    print(screen, 1, "step 2");
    pass(1000);
    print(screen, 1, "step 3");
    pass(1000);
    List<String> shown = written(screen);

    assertEquals(List.of("nodes 0,1: step 1", "node 1: step 2", "node 1: step 3"), shown);
  }

  @Test
  void allRanksMeansALineForEach() {
    try (ScreenOutput screen = screen(Set.of(), false)) {
      IntStream.range(0, 4).forEach(rank -> print(screen, rank, "ready"));
      assertEquals(List.of("[0] ready", "[1] ready", "[2] ready", "[3] ready"), written(screen));
    }
  }

  @Test
  void theBarOfOneRankIsTheBottomLineAndItsEndIsSaidOnce() {
    ScreenOutput screen = screen(Set.of(), true);
    bar(screen, 2, " 10%|#  |");
    bar(screen, 0, " 20%|## |");
    bar(screen, 1, " 15%|## |");
    pass(100);
    assertEquals("<start>[0]  20%|## |<clear>", bars());

    for (int rank = 0; rank < 4; rank++) {
      String end = "100%|###| 9/9 [00:0" + rank + "<00:00, 1" + rank + ".5it/s]";
      bar(screen, rank, end);
      screen.line(0, rank, true, end.getBytes(StandardCharsets.UTF_8));
    }
    screen.close();

    assertEquals("<start><clear>[all 4] 100%|###| 9/9 [00:00<00:00, 10.5it/s]\n", bars());
  }

  @Test
  void coloursPassAndTheCursorStaysWhereItIs() {
    try (ScreenOutput screen = screen(Set.of(), true)) {
      print(
          screen,
          0,
          "\u001b[31mred\u001b[A\u001b]0;title\u0007 \u001b[2Kend\u009b5A\b\u0007 ünd ☃\u001b]x");
      assertEquals(List.of("[0] ESC[31mred end5A ünd ☃ESC[0m"), written(screen));
    }
  }

  @Test
  void aRestartSaysWhy() {
    try (ScreenOutput screen = screen(Set.of(), true)) {
      print(screen, 0, "before");
      screen.restarting(
          0,
          new RunFailure(
              2,
              new RunFailure.Where(1, "gpu2", true, Optional.of("0")),
              Optional.of(1),
              Optional.empty(),
              Json.object(
                  "code",
                  "exception",
                  "type",
                  "ValueError",
                  "message",
                  "bad",
                  "frame",
                  Json.object("file", "a.py", "line", 3)),
              List.of(3),
              List.of()),
          1,
          2);
    }

    assertEquals(List.of("[0] before"), lines());
    assertEquals(
        "gpush: rank 2 (gpu2, GPU 0) failed first: ValueError: bad (a.py:3); rank 3 the same; all"
            + " ranks start again (restart 1 of 2)\n",
        err.toString(StandardCharsets.UTF_8));
  }
}
