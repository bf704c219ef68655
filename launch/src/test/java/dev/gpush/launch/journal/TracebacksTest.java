package dev.gpush.launch.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a person sees of tracebacks and of torchrun's own words. */
final class TracebacksTest {
  private static final String HEAD = "Traceback (most recent call last):\n";
  private static final String BAD = HEAD + "  File \"a.py\", line 3\n    x\nValueError: bad\n";

  /** What torchrun 2.8 writes when a rank has failed, shortened. */
  private static final String WALL =
      "W1123 08:00:00.123000 99 /e/torch/distributed/elastic/multiprocessing/api.py:900] Sending"
          + " process 7 closing signal SIGTERM\n"
          + "E1123 08:00:00.200000 99 torch/distributed/elastic/multiprocessing/api.py:874] failed"
          + " (exitcode: 1) local_rank: 1 (pid: 9) of binary: /bin/sh\n"
          + HEAD
          + "  File \"<frozen runpy>\", line 198, in _run_module_as_main\n"
          + "  File \"/e/torch/distributed/run.py\", line 905, in <module>\n    main()\n"
          + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
          + "=".repeat(60)
          + "\n/bin/sh FAILED\n"
          + "-".repeat(60)
          + "\nRoot Cause (first observed failure):\n[0]:\n  exitcode  : 1 (pid: 9)\n"
          + "=".repeat(60)
          + "\n";

  private final List<String> shown = new ArrayList<>();
  private Set<Integer> named = Set.of();
  private boolean isForPeople = true;
  private RunMerge merge = merge(Set.of());

  private RunMerge merge(Set<Integer> ranks) {
    return new RunMerge(
        ranks,
        new RunOutput() {
          @Override
          public void line(int node, int rank, boolean error, byte[] text) {
            shown.add(rank + (error ? "! " : " ") + new String(text, StandardCharsets.UTF_8));
          }

          @Override
          public void event(int node, String text) {
            shown.add(text);
          }

          @Override
          public void restarting(int node, RunFailure failure, int restart, int most) {}

          @Override
          public boolean isForPeople() {
            return isForPeople;
          }
        },
        new TransportCollector(Optional.empty(), 1));
  }

  private static void feed(RunMerge.Part part, int rank, int channel, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    // First less than a line at a time, then several.
    for (int at = 0, size = 7; at < bytes.length; at += size, size *= 2) {
      int end = Math.min(bytes.length, at + size);
      part.take(rank, channel, java.util.Arrays.copyOfRange(bytes, at, end));
    }
  }

  private List<String> end(RunMerge.Part... parts) {
    List.of(parts).forEach(RunMerge.Part::finish);
    merge.finish(named);
    return List.copyOf(shown);
  }

  @Test
  void theSameTracebackOfSeveralRanksIsShownOnce() {
    RunMerge.Part one = merge.part(0, "/n0/ws");
    RunMerge.Part two = merge.part(1, "/n1/ws");
    feed(one, 0, 1, "before\n" + BAD.replace("a.py", "/n0/ws/a.py"));
    feed(one, 1, 1, BAD.replace("a.py", "/n0/ws/a.py").replaceAll("(?m)^", "[rank1]: "));
    feed(two, 2, 1, BAD.replace("a.py", "/n1/ws/a.py"));
    feed(two, 3, 1, BAD.replace("bad", "other"));

    assertEquals(
        List.of(
            "0! before",
            "0! Traceback (most recent call last):",
            "0!   File \"/n0/ws/a.py\", line 3",
            "0!     x",
            "0! ValueError: bad",
            "3! Traceback (most recent call last):",
            "3!   File \"a.py\", line 3",
            "3!     x",
            "3! ValueError: other",
            "the same traceback (ValueError: bad) from ranks 1, 2"),
        end(one, two));
  }

  /** A loader that logs one for each bad sample does so for days. */
  @Test
  void ofVeryManyTheOldestIsForgotten() {
    RunMerge.Part part = merge.part(0, "/n0/ws");
    feed(part, 0, 1, BAD);
    feed(part, 1, 1, BAD);
    for (int sample = 0; sample < 100; sample++) {
      feed(part, 0, 1, BAD.replace("bad", "sample " + sample));
    }
    assertEquals("the same traceback (ValueError: bad) from rank 1", shown.get(4 + 99 * 4));
    shown.clear();

    feed(part, 1, 1, BAD);

    end(part);
    assertTrue(shown.contains("1! ValueError: bad"), shown::toString);
  }

  @Test
  void whatTheVerdictSaysIsNotSaidTwice() {
    named = Set.of(0, 1);
    RunMerge.Part part = merge.part(0, "/n0/ws");
    feed(part, 0, 1, BAD);
    feed(part, 1, 1, BAD);

    assertEquals(4, end(part).size(), shown::toString);
  }

  @Test
  void whatOpenMpiSaysOfItsOwnRaceIsNotShown() {
    RunMerge.Part part = merge.part(0, "/n0/ws");
    feed(
        part,
        0,
        1,
        "[node-0:4711] plm:ssh: Warning: setpgid(4714,4714) failed in parent with"
            + " errno=Permission denied(13)\n[node-0:4711] plm:ssh: ssh exited\n");

    assertEquals(List.of("0! [node-0:4711] plm:ssh: ssh exited"), end(part));
  }

  @Test
  void programsGetAllOfThem() {
    isForPeople = false;
    merge = merge(Set.of());
    RunMerge.Part part = merge.part(0, "/n0/ws");
    feed(part, 0, 1, BAD);
    feed(part, 1, 1, BAD);
    feed(part, RunJournal.LAUNCHER, 1, WALL);

    assertTrue(end(part).contains("-1! Root Cause (first observed failure):"), shown::toString);
    assertEquals(8, shown.stream().filter(line -> !line.startsWith("-1")).count());
  }

  @Test
  void whatTorchrunSaysOfFailedRanksIsShownOnlyWhenAskedFor() {
    for (int who : List.of(RunJournal.LAUNCHER, 0)) {
      shown.clear();
      merge = merge(Set.of());
      RunMerge.Part part = merge.part(0, "/n0/ws");
      feed(part, who, 1, BAD + WALL + "torchrun: error: unrecognized arguments: --nods\n");
      int rank = who == 0 ? 0 : -1;
      assertEquals(
          List.of(
              rank + "! Traceback (most recent call last):",
              rank + "!   File \"a.py\", line 3",
              rank + "!     x",
              rank + "! ValueError: bad",
              rank + "! torchrun: error: unrecognized arguments: --nods"),
          end(part));

      shown.clear();
      merge = merge(Set.of(RunJournal.FROM_LAUNCHER));
      RunMerge.Part wall = merge.part(0, "/n0/ws");
      feed(wall, who, 1, WALL);
      feed(wall, 3, 0, "step 1\n");
      feed(wall, 3, 1, BAD);
      assertEquals(
          WALL.lines().map(line -> rank + "! " + line).toList(), end(wall), "rank " + rank);
    }
  }

  @Test
  void aTracebackWithoutAnEndIsShownAtTheEnd() {
    RunMerge.Part part = merge.part(0, "/n0/ws");
    feed(part, 0, 1, HEAD + "  File \"a.py\", line 3\n");
    feed(part, 0, 0, "out\n");

    assertEquals(
        List.of("0 out", "0! Traceback (most recent call last):", "0!   File \"a.py\", line 3"),
        end(part));
  }

  @Test
  void othersThatHaveLongToEndAreNamed() {
    RunMerge.Part part = merge.part(0, "/n0/ws");
    String event = "{\"event\": \"stopping\", \"why\": \"rank 1 failed\", \"grace_s\": %d}";
    part.take(RunJournal.LAUNCHER, RunJournal.EVENT, event.formatted(30).getBytes(UTF_8));
    RunMerge.Part other = merge.part(1, "/n1/ws");
    other.take(RunJournal.LAUNCHER, RunJournal.EVENT, event.formatted(3).getBytes(UTF_8));

    assertEquals(List.of("rank 1 failed: the others have 30s to end"), end(part, other));
  }

  private static final java.nio.charset.Charset UTF_8 = StandardCharsets.UTF_8;
}
