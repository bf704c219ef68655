package dev.gpush.shell.top;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.shell.text.Width;
import dev.gpush.shell.top.TopView.Sort;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The screen as lines; what is drawn in red is behind a "R ", headings behind "= ". */
final class TopScreenTest {
  private static final TopView PLAIN = TopView.of(Sort.NODE, Optional.empty());

  private static String shown(TopPicture picture, TopView view, int columns, int rows) {
    var text = new StringBuilder();
    for (ScreenLine line : TopScreen.lines(picture, view, columns, rows)) {
      String mark =
          switch (line.style()) {
            case PLAIN -> "  ";
            case HEADING -> "= ";
            case ALARM -> "R ";
            case SELECTED -> "> ";
          };
      text.append((mark + line.text()).stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static TopView after(TopPicture picture, TopView view, String keys) {
    TopView now = view;
    byte[] bytes = keys.getBytes(StandardCharsets.UTF_8);
    for (Keystroke key : Keystroke.of(bytes, bytes.length)) {
      now = now.after(key, TopScreen.order(picture, now));
    }
    return now;
  }

  @Test
  void aTerminalOf80By24HasAll() {
    assertEquals(
        """
        = devbox  2×4 H100 · every 1s
        R ! node 0 gpu 1: slowed down by heat
        R ! node 1 gpu 2: 12% busy, others 98%
        R ! node 1 rank 6: 3% of a processor, others 100%
        = RUN STATE   RANKS PROCESSES              NODES   AGE COMMAND
            7 running     8 7 computing, 1 waiting 0,1   2h10m train.py --lr 3e-4
        = NODE HOST  CPU    MEMORY FREE DISK NET IN  OUT RDMA IN   OUT
        >   ›0 gpu00 34% 212G/1.0T      1.2T   1.2M 300k   24.1G 24.0G
             1 gpu01 34% 212G/1.0T      1.2T   1.2M 300k   24.1G 24.0G
        = NODE GPU UTIL     MEMORY    POWER TEMP  MHZ RUN NOTE
             0   0  98% 71.0/80.0G 600/700W  70C 1980   7 power cap
        R    0   1  98% 71.0/80.0G 601/700W  71C 1980   7 ! slowed down by heat
             0   2  98% 71.0/80.0G 602/700W  72C 1980   7 power cap
             0   3  98% 71.0/80.0G 603/700W  73C 1980   7 power cap
             1   0  98% 71.0/80.0G 600/700W  70C 1980   7 power cap
             1   1  98% 71.0/80.0G 601/700W  71C 1980   7 power cap
        R    1   2  12% 71.0/80.0G 602/700W  72C 1980   7 ! 12% busy, others 98%
             1   3  98% 71.0/80.0G 603/700W  73C 1980   7 power cap





        = q quit  s sort  / filter  ↑↓ enter or number: node
        """,
        shown(TopFixture.gang(), PLAIN, 80, 24));
  }

  @Test
  void aTerminalOf40By10HasWhatMatters() {
    assertEquals(
        """
        = devbox  2×4 H100 · every 1s
        R ! node 0 gpu 1: slowed down b… +2 more
        = NODE HOST  CPU    MEMORY RDMA IN   OUT
        >   ›0 gpu00 34% 212G/1.0T   24.1G 24.0G
             1 gpu01 34% 212G/1.0T   24.1G 24.0G
        = NODE GPU UTIL     MEMORY NOTE
        R    0   1  98% 71.0/80.0G ! slowed down …
        R    1   2  12% 71.0/80.0G ! 12% busy, ot…
          … 6 more
        = q quit  s sort  / filter  ↑↓ enter: node
        """,
        shown(TopFixture.gang(), PLAIN, 40, 10));
  }

  private static String runs(Json progress, int columns) {
    Json node = TopFixture.node(List.of(), List.of(TopFixture.rank(0, "R", 99.5)), progress);
    var readings =
        List.of(
            TopFixture.reading(0, Optional.of(node), Duration.ZERO, "up", ""),
            TopFixture.reading(
                1, Optional.of(TopFixture.node(List.of(), List.of())), Duration.ZERO, "up", ""));
    var picture =
        new TopPicture(
            "devbox", Duration.ofSeconds(1), TopFixture.NOW, readings, List.of(TopFixture.run()));
    return shown(picture, PLAIN, columns, 24)
        .lines()
        .skip(1)
        .limit(2)
        .map(line -> line + "\n")
        .reduce("", String::concat);
  }

  @Test
  void aRunThatPrintsItsStepsHasTheirRate() {
    Json none = new Json.Null();
    assertEquals(
        """
        = RUN STATE   RANKS STEP        RATE TREND    PROCESSES   COMMAND
            7 running     8 1200/5000 11.9/s 8% below 1 computing train.py --lr 3…
        """,
        runs(TopFixture.progress(1200, 0.3, 11.9, 12.9, none), 72));
    assertEquals(
        """
        = RUN STATE   RANKS STEP            RATE TREND     PROCESSES   NODES   AGE COMMAND
        R   7 running     8 1200/5000 3.03s/step 67% below 1 computing 0,1   2h10m train.py --lr 3e-4
        """,
        runs(TopFixture.progress(1200, 0.3, 0.33, 1, 61), 100));
    assertEquals(
        """
        = RUN RANKS STEP      TREND          COMMAND
            7     8 1200/5000 no step for 4m train.py --lr …
        """,
        runs(TopFixture.progress(1200, 240, 0, 12.9, none), 50));
    assertTrue(runs(TopFixture.progress(9, 1, 2, 2.05, none), 80).contains(" 2.00/s steady "));
    assertTrue(runs(TopFixture.progress(9, 1, 0, 0, none), 80).contains(" 9/5000 1 computing"));
  }

  @Test
  void aNodeInDetail() {
    TopView opened = after(TopFixture.gang(), PLAIN, "1");

    assertEquals(
        """
        = devbox  2×4 H100 · every 1s
          node 1  gpu01  10.0.0.1
        R ! node 1 gpu 2: 12% busy, others 98%
        R ! node 1 rank 6: 3% of a processor, others 100%
          cpu 34% of 96, load 31.5  memory 212G/1.0T
          workspace: 1.2T free of 2.9T
          gpu: NVIDIA H100 80GB HBM3
        = NODE GPU UTIL     MEMORY    POWER TEMP  MHZ RUN NOTE
             1   0  98% 71.0/80.0G 600/700W  70C 1980   7 power cap
             1   1  98% 71.0/80.0G 601/700W  71C 1980   7 power cap
        R    1   2  12% 71.0/80.0G 602/700W  72C 1980   7 ! 12% busy, others 98%
             1   3  98% 71.0/80.0G 603/700W  73C 1980   7 power cap
        = RUN RANK PROCESS    CPU MEMORY  PID
            7    4 computing 100%   3.0G 4004
            7    5 computing 100%   3.0G 4005
            7    6 waiting     3%   3.0G 4006
            7    7 computing 100%   3.0G 4007
        = DEVICE      IN   OUT PORT
          mlx5_0:1 24.1G 24.0G 400G
          eth0      1.2M  300k    -


        = esc back  ↑↓ scroll  q quit
        """,
        shown(TopFixture.gang(), opened, 72, 23));
    assertEquals(PLAIN, after(TopFixture.gang(), opened, "\u001b"));
  }

  @Test
  void aNodeWithoutGpusShowsWhatThereIs() {
    Json cpu =
        ((Json.Obj) TopFixture.node(List.of(), List.of()))
            .with("rdma", List.of())
            .with("disk", new Json.Null());
    var picture =
        new TopPicture(
            "devbox  2 cpu nodes",
            Duration.ofSeconds(1),
            TopFixture.NOW,
            List.of(
                TopFixture.reading(0, Optional.of(cpu), Duration.ofSeconds(1), "up", ""),
                TopFixture.reading(1, Optional.of(cpu), Duration.ofSeconds(12), "cut", ""),
                TopFixture.reading(2, Optional.empty(), Duration.ZERO, "up", "older\u001b[2J")),
            List.of());

    assertEquals(
        """
        = devbox  2 cpu nodes · every 1s
        R ! node 1: no sample for 12s, its link is cut +1 more
        = NODE HOST  CPU    MEMORY NET IN  OUT NOTE
        >   ›0 gpu00 34% 212G/1.0T   1.2M 300k
        R    1 gpu01   -         -      -    - no sample for 12s, its…
        R    2 gpu02   -         -      -    - no sample yet, older



        = q quit  s sort  / filter  ↑↓ enter or number: node
        """,
        shown(picture, PLAIN, 60, 10));
  }

  @Test
  void rowsAreSortedAndFiltered() {
    TopPicture gang = TopFixture.gang();

    String byTemperature = shown(gang, after(gang, PLAIN, "ssss"), 80, 24);
    assertTrue(byTemperature.contains("· by temp"), byTemperature);
    assertEquals(
        List.of("73C", "73C", "72C", "72C"),
        byTemperature
            .lines()
            .filter(line -> line.contains("C 1980 "))
            .map(line -> line.replaceAll(".* ([0-9]+C) .*", "$1"))
            .limit(4)
            .toList());
    String filtered = shown(gang, after(gang, PLAIN, "/12% b\r"), 80, 24);
    assertTrue(filtered.contains("· /12% b"), filtered);
    assertEquals(1, filtered.lines().filter(line -> line.contains("C 1980 ")).count(), filtered);
    assertEquals(List.of(1), TopScreen.order(gang, after(gang, PLAIN, "/GPU01\r")));
    assertEquals(List.of(), TopScreen.order(gang, after(gang, PLAIN, "/nowhere")));
    assertEquals(List.of(0, 1), TopScreen.order(gang, after(gang, PLAIN, "/nowhere\u001b")));
  }

  @Test
  void arrowsAndNumbersOpenANode() {
    TopPicture gang = TopFixture.gang();

    assertEquals(Optional.of(1), after(gang, PLAIN, "\u001b[B\r").opened());
    assertEquals(Optional.of(0), after(gang, PLAIN, "jk\u001b[C").opened());
    assertEquals(Optional.empty(), after(gang, PLAIN, "7").opened());
    assertEquals(Optional.empty(), after(gang, PLAIN, "1\u007f").opened());
    List<NodeReading> many =
        IntStream.range(0, 20)
            .mapToObj(node -> TopFixture.reading(node, Optional.empty(), Duration.ZERO, "up", ""))
            .toList();
    var large = new TopPicture("devbox", Duration.ofSeconds(1), TopFixture.NOW, many, List.of());
    assertEquals(Optional.of(12), after(large, PLAIN, "12\r").opened());
    assertEquals(Optional.of(1), after(large, PLAIN, "12\b\r").opened());
    assertEquals(Optional.empty(), after(large, PLAIN, "99\r").opened());
    // The one at the cursor is on the screen.
    assertTrue(shown(large, after(large, PLAIN, "\u001b[6~jj"), 40, 10).contains("›12"));
  }

  /** Whatever nodes say, and however small the window is. */
  @Test
  void linesFitIntoTheWindowAndHoldNoControlCharacters() {
    long seed = System.nanoTime();
    var random = new Random(seed);
    String nasty = "\u001b]0;title\u0007\u001b[2J\u0000\u009b31m\u202e\r\nライブ";
    Json gpu = ((Json.Obj) TopFixture.gpu("0", 1, 1, 1, List.of(nasty))).with("name", nasty);
    List<Json> gpus = List.of(gpu, Json.object("gpu", nasty, "problem", nasty), Json.object());
    Json node = TopFixture.node(gpus, List.of(TopFixture.rank(1, nasty, 1e300)));
    var nodes = new ArrayList<NodeReading>();
    for (int at = 0; at < 12; at++) {
      Json said = at % 3 == 0 ? Json.object() : node;
      nodes.add(TopFixture.reading(at, Optional.of(said), Duration.ofSeconds(at), "up", nasty));
    }
    var picture = new TopPicture(nasty, Duration.ofSeconds(3), TopFixture.NOW, nodes, List.of());

    for (int round = 0; round < 300; round++) {
      int columns = 1 + random.nextInt(150);
      int rows = 1 + random.nextInt(60);
      TopView view = after(picture, PLAIN, random.nextBoolean() ? "2 " : "sj/n");
      List<ScreenLine> lines = TopScreen.lines(picture, view, columns, rows);

      assertTrue(lines.size() <= rows, () -> "seed " + seed + " rows " + rows);
      for (ScreenLine line : lines) {
        assertTrue(Width.of(line.text()) <= columns, () -> "seed " + seed + ": " + line.text());
        assertFalse(
            line.text().chars().anyMatch(each -> Character.isISOControl(each) || each == 0x202e),
            () -> "seed " + seed + ": " + line.text());
      }
    }
  }
}
