package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.machine.LinkLimits;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A keystroke that is typed when every window is full of bulk: how many bytes of bulk still go
 * before it is a matter of place on the wire, not of time.
 */
@Tag("speed")
final class OvertakingTest {
  private static final int STREAMS = 4;

  /** What has been taken to be written when the keystroke comes cannot be overtaken any more. */
  private static final int IN_HAND = 2 * FrameLimits.MAX_PIECE;

  /** The agent's burst, its socket, the relay's buffer and the two pipes of the relay. */
  private static final int ON_THE_WAY = 6 * 128 << 10;

  /** What a stream carries until its window is as large as it gets. */
  private static final int RUN_UP = 16 << 20;

  private static final LinkTiming PATIENT = LinkTiming.usual().withContact(Duration.ofDays(1));

  private final Recorder<FaultyPipe> pipes = new Recorder<>();
  private AgentNode node;

  @BeforeEach
  void makesANode() throws Exception {
    node = new AgentNode();
  }

  @AfterEach
  void releasesTheAgent() throws Exception {
    node.close();
  }

  private Link link(AgentNode.Reach reach) {
    return node.link(
        reach,
        Clock.system(),
        PATIENT,
        pipe -> {
          var faulty = new FaultyPipe(pipe);
          pipes.add(faulty);
          return faulty;
        });
  }

  private static BlockingStream command(Link link, String command) {
    return link.open(Json.object("type", "exec", "stdin", true, "command", command));
  }

  private static void typed(BlockingStream keys, String line) throws Exception {
    keys.input().write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private static void shows(BlockingStream keys, String line) throws Exception {
    byte[] shown = keys.output(0).readNBytes(line.length() + 1);
    assertEquals(line + "\n", new String(shown, StandardCharsets.UTF_8));
  }

  /** Bytes of other streams before the first of this one, from this frame on. */
  private static long bulkBefore(List<FaultyPipe.Passed> frames, int from, BlockingStream keys) {
    long bytes = 0;
    for (FaultyPipe.Passed frame : frames.subList(from, frames.size())) {
      if (frame.isData() && frame.stream() == keys.stream().number()) {
        return bytes;
      }
      bytes += frame.isData() ? frame.length() : 0;
    }
    throw new AssertionError("the keystroke is not among " + (frames.size() - from) + " frames");
  }

  @ParameterizedTest
  @EnumSource
  void onTheWayUp(AgentNode.Reach reach) throws Exception {
    try (Link link = link(reach)) {
      link.connect();
      var keys = command(link, "cat");
      typed(keys, "before");
      shows(keys, "before");
      FaultyPipe pipe = pipes.await(_ -> true);
      var bulk = new ArrayList<BlockingStream>();
      for (int i = 0; i < STREAMS; i++) {
        var stream =
            command(link, "head -c " + RUN_UP + " > /dev/null; echo taken; cat > /dev/null");
        stream.input().write(new byte[RUN_UP]);
        shows(stream, "taken");
        bulk.add(stream);
      }
      pipe.freezeUp(true);
      var sent = new AtomicLong();
      // Credit for what was taken may still be on its way down.
      Recorder.until(
          "enough waits",
          () -> {
            for (BlockingStream stream : bulk) {
              sent.addAndGet(
                  stream.stream().trySend(0, ByteBuffer.allocate(LinkLimits.MAX_WINDOW)));
            }
            return sent.get() > 8 * IN_HAND;
          });
      long waiting = sent.get();
      int before = pipe.wentUp().size();

      typed(keys, "k");
      pipe.freezeUp(false);
      shows(keys, "k");

      long overtaking = bulkBefore(pipe.wentUp(), before, keys);
      System.err.printf(
          "OvertakingTest %s up: %d bytes of %d went before%n", reach, overtaking, waiting);
      assertTrue(overtaking <= IN_HAND, overtaking + " bytes went before the keystroke");
    }
  }

  private static long drained(BlockingStream stream) throws Exception {
    return stream.output(0).transferTo(OutputStream.nullOutputStream());
  }

  @ParameterizedTest
  @EnumSource
  void onTheWayDown(AgentNode.Reach reach) throws Exception {
    try (Link link = link(reach)) {
      long agent = link.connect().number("pid").orElseThrow();
      Path seen = node.folder().resolve("seen");
      var keys = command(link, "while read l; do echo $l; echo $l >> '" + seen + "'; done");
      typed(keys, "before");
      shows(keys, "before");
      FaultyPipe pipe = pipes.await(_ -> true);
      var bulk = new ArrayList<BlockingStream>();
      for (int i = 0; i < STREAMS; i++) {
        var stream = command(link, "cat /dev/zero");
        stream.output(0).readNBytes(RUN_UP);
        bulk.add(stream);
      }
      // Somebody reads on, so that only the pipe holds them: each has credit, and its queue is
      // full.
      var readers =
          bulk.stream().map(stream -> node.tasks().fork("read", () -> drained(stream))).toList();
      pipe.freezeDown(true);
      var idle = new Idleness(agent);
      idle.await();
      int before = pipe.cameDown().size();

      typed(keys, "k");
      Recorder.until("the echo is written", () -> Files.size(seen) == "before\nk\n".length());
      idle.await();
      pipe.freezeDown(false);
      shows(keys, "k");

      long overtaking = bulkBefore(pipe.cameDown(), before, keys);
      System.err.printf("OvertakingTest %s down: %d bytes went before%n", reach, overtaking);
      assertTrue(overtaking > 0, "no bulk was on its way");
      assertTrue(overtaking <= ON_THE_WAY, overtaking + " bytes went before the echo");
      assertTrue(readers.stream().noneMatch(Task::isDone), "bulk has no end");
    }
  }
}
