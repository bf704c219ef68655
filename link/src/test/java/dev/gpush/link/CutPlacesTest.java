package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.link.FaultyPipe.End;
import dev.gpush.link.frame.FrameLimits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Cuts at every place of a short conversation, and cuts that reach the agent only when the next
 * pipe has begun. The profile {@code long} goes through relays too, and takes more of them.
 */
@Tag("link")
final class CutPlacesTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** In front of a frame, in its header, behind its header. */
  private static final List<Integer> PARTS = List.of(0, 7, FrameLimits.HEADER_BYTES);

  private static final int LATE_PIPES = LONG ? 200 : 12;

  private static final LinkTiming FAST =
      new LinkTiming(
          Duration.ofSeconds(5),
          Duration.ofSeconds(20),
          Duration.ofSeconds(5),
          Duration.ofSeconds(10),
          Duration.ofSeconds(20),
          Duration.ofMillis(1),
          Duration.ofMillis(20));

  private AgentNode node;

  @BeforeEach
  void makesANode() throws Exception {
    node = new AgentNode();
  }

  @AfterEach
  void releasesTheAgent() throws Exception {
    node.close();
  }

  /** The pipes of one conversation: the first ends where it is told to, the others do not. */
  private final class Pipes {
    private final List<FaultyPipe> opened = new ArrayList<>();
    private final End up;
    private final End down;

    Pipes(End up, End down) {
      this.up = up;
      this.down = down;
    }

    synchronized FaultyPipe over(Pipe pipe) {
      var next = opened.isEmpty() ? new FaultyPipe(pipe, up, down, 0) : new FaultyPipe(pipe);
      opened.add(next);
      return next;
    }

    synchronized FaultyPipe first() {
      return opened.getFirst();
    }

    synchronized boolean wasCut() {
      return opened.size() > 1;
    }
  }

  /** A command with input, output, errors, a message and an end, and a call. */
  private void converse(AgentNode.Reach reach, Pipes pipes) throws Exception {
    try (Link link = node.link(reach, Clock.system(), FAST, pipes::over)) {
      connect(link);
      var stream =
          link.open(
              Json.object(
                  "type",
                  "exec",
                  "stdin",
                  true,
                  "command",
                  "read line; echo \"$line\"; echo wrong >&2; cat; exit 7"));
      write(stream, "one\n");
      assertEquals("one\n", new String(stream.output(0).readNBytes(4), StandardCharsets.UTF_8));
      stream.stream().message(Json.object("resize", List.of(80, 24)));
      write(stream, "two\nthree\n");
      stream.input().close();
      assertEquals("two\nthree\n", text(stream, 0));
      assertEquals("wrong\n", text(stream, 1));
      assertEquals(Json.object("exit", 7), stream.awaitClose());
      assertEquals(1, link.call("ports", Json.object("count", 1)).items("ports").size());
    }
  }

  /** A pipe that ends while it is greeted is the first one's caller's business. */
  private static void connect(Link link) throws Exception {
    try {
      link.connect();
    } catch (IOException | GpushException cut) {
      link.connect();
    }
  }

  private static void write(BlockingStream stream, String text) throws IOException {
    stream.input().write(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(BlockingStream stream, int channel) throws IOException {
    return new String(stream.output(channel).readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void aConversationIsTheSameWhereverItsPipeIsCut() throws Exception {
    cutEverywhere(AgentNode.Reach.STRAIGHT);
    if (LONG) {
      cutEverywhere(AgentNode.Reach.RELAY);
    }
  }

  private void cutEverywhere(AgentNode.Reach reach) throws Exception {
    var calm = new Pipes(End.never(), End.never());
    converse(reach, calm);
    int up = calm.first().wentUp().size();
    int down = calm.first().cameDown().size();
    assertTrue(up >= 8 && down >= 8, up + " frames up, " + down + " down");

    int cuts = cut(reach, true, up) + cut(reach, false, down);
    int places = (up + down) * PARTS.size();
    System.err.println("CutPlacesTest " + reach + ": " + cuts + " cuts at " + places + " places");
    // The last frames are not always the same: an ACK may be due or not.
    assertTrue(cuts >= places * 2 / 3, cuts + " cuts at " + places + " places");
    assertEquals("", node.log());
  }

  /** At every place of one direction; in how many conversations it was reached. */
  private int cut(AgentNode.Reach reach, boolean isUp, int frames) {
    int cuts = 0;
    for (int place = 0; place < frames * PARTS.size(); place++) {
      var end = new End(place / PARTS.size(), PARTS.get(place % PARTS.size()), place % 2 == 0);
      var pipes = isUp ? new Pipes(end, End.never()) : new Pipes(End.never(), end);
      try {
        converse(reach, pipes);
      } catch (Exception | AssertionError lost) {
        throw new AssertionError((isUp ? "up" : "down") + " cut at " + end, lost);
      }
      cuts += pipes.wasCut() ? 1 : 0;
    }
    return cuts;
  }

  /**
   * The old pipe's bytes and its end arrive just before, with or after the next pipe's HELLO. The
   * agent is stopped meanwhile now and then, so that it finds both at once.
   */
  @ParameterizedTest
  @EnumSource
  void whatIsLeftOfAnOldPipeMayComeWheneverItLikes(AgentNode.Reach reach) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("CutPlacesTest " + reach + " seed " + seed + " (-Dgpush.seed)");
    var late = new LateCuts(new Random(seed));
    try (Link link = node.link(reach, Clock.system(), FAST, late::over)) {
      late.agent = link.connect().number("pid").orElseThrow();
      long bytes = 0;
      while (late.begun.get() <= LATE_PIPES) {
        try (var oracle = new Oracle(link, node.tasks(), seed, 1)) {
          oracle.start();
          link.renewPipe();
          bytes += oracle.await();
        }
      }
      System.err.printf(
          "CutPlacesTest %s: %d late pipes, %d bytes came late, %d in all%n",
          reach, LATE_PIPES, late.bytes.get(), bytes);
    }
    assertTrue(late.bytes.get() > 0, "seed " + seed);
    assertEquals("", node.log(), () -> "seed " + seed);
  }

  /** Every pipe but the first and the last ones is late. */
  private final class LateCuts {
    private final Random random;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger bytes = new AtomicInteger();
    private volatile long agent;
    private LatePipe last;

    LateCuts(Random random) {
      this.random = random;
    }

    /** One after the other: the link has one pipe at a time. */
    synchronized Pipe over(Pipe pipe) {
      int number = begun.getAndIncrement();
      if (number > 1 && number <= LATE_PIPES + 1) {
        arriveSometime(last);
      }
      if (number == 0 || number > LATE_PIPES) {
        return pipe;
      }
      // Nothing at all, so that also HELLO is late; a few frames; or in the middle of bulk.
      long heldFrom = random.nextInt(3) == 0 ? 0 : 1L << random.nextInt(18);
      var next = new LatePipe(pipe, node.tasks(), heldFrom);
      last = next;
      long nanos = TimeUnit.MICROSECONDS.toNanos(random.nextInt(5_000));
      node.tasks()
          .start(
              "cut",
              () -> {
                next.awaitHeld();
                LockSupport.parkNanos(nanos);
                next.cut();
              });
      return next;
    }

    private void arriveSometime(LatePipe old) {
      boolean atOnce = random.nextBoolean();
      long nanos = TimeUnit.MICROSECONDS.toNanos(random.nextInt(10_000));
      if (atOnce) {
        signal("STOP");
        node.tasks()
            .start(
                "go-on",
                () -> {
                  LockSupport.parkNanos(2 * nanos);
                  signal("CONT");
                });
      }
      node.tasks()
          .start(
              "arrive",
              () -> {
                LockSupport.parkNanos(nanos);
                bytes.addAndGet(old.arrive());
              });
    }

    private void signal(String name) {
      try {
        new ProcessBuilder("kill", "-" + name, Long.toString(agent)).start().waitFor();
      } catch (IOException broken) {
        throw new IllegalStateException(broken);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
