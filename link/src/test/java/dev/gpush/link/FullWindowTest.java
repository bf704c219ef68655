package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.link.machine.LinkLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A pipe that stands still while many streams have more to say, both ways: writers wait, both sides
 * stay within their pools, and when it goes on nothing is missing.
 */
@Isolated("it measures memory")
@Tag("speed")
final class FullWindowTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** With windows as large as they get these fill the agent's pool for what it receives. */
  private static final int STREAMS = LONG ? 64 : 18;

  /** What a stream carries until its window is as large as it gets. */
  private static final int RUN_UP = 10 << 20;

  /** What it carries after that: more than its window. */
  private static final int REST = 8 << 20;

  private static final int PIECE = 64 << 10;

  /** The agent's, for what it has read and what it keeps for another pipe. */
  private static final long AGENT_POOL = 64L << 20;

  /** Python's own way with memory, and what lies in buffers. */
  private static final double AGENT_OVERHEAD = 1.5;

  private static final long SLACK = 24L << 20;

  /** So many looks that find the same are no accident. */
  private static final int LOOKS = 10;

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

  private FaultyPipe recorded(Pipe pipe) {
    var faulty = new FaultyPipe(pipe);
    pipes.add(faulty);
    return faulty;
  }

  /** Bytes that are really there: one array for all would hide what is kept. */
  private static void write(BlockingStream stream, int size, AtomicLong taken) throws IOException {
    for (int left = size; left > 0; left -= PIECE) {
      stream.input().write(new byte[PIECE]);
      taken.addAndGet(PIECE);
    }
  }

  private static long read(BlockingStream stream, long size, AtomicLong read) throws IOException {
    var piece = new byte[PIECE];
    long left = size;
    while (left > 0) {
      int count = stream.output(0).read(piece, 0, (int) Math.min(piece.length, left));
      if (count < 0) {
        break;
      }
      left -= count;
      read.addAndGet(count);
    }
    return size - left;
  }

  private BlockingStream command(Link link, String command) {
    return link.open(Json.object("type", "exec", "stdin", true, "command", command));
  }

  private static long memory(long pid) throws IOException {
    return Files.readString(Path.of("/proc", Long.toString(pid), "status"))
        .lines()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
        .sum();
  }

  private static long heap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void writersWaitAndMemoryStaysWithinThePools() throws Exception {
    try (Link link = node.link(AgentNode.Reach.STRAIGHT, Clock.system(), PATIENT, this::recorded)) {
      long agent = link.connect().number("pid").orElseThrow();
      FaultyPipe pipe = pipes.await(_ -> true);
      long agentBefore = memory(agent);
      long heapBefore = heap();
      var taken = new AtomicLong();
      var read = new AtomicLong();
      var up = new ArrayList<BlockingStream>();
      var down = new ArrayList<BlockingStream>();
      for (int i = 0; i < STREAMS; i++) {
        var sink = command(link, "wc -c");
        write(sink, RUN_UP, taken);
        up.add(sink);
        // Our windows may be large from the start; the agent's are earned.
        var source =
            link.open(
                Json.object("type", "exec", "stdin", true, "credit", LinkLimits.MAX_WINDOW)
                    .with("command", "read go; head -c " + REST + " /dev/zero"));
        source.awaitOpened();
        down.add(source);
      }

      // First the way up only: what the agent says arrives and is not acknowledged, so it is kept.
      for (BlockingStream source : down) {
        source.input().write('\n');
      }
      Recorder.until("all have begun", () -> down.stream().noneMatch(FullWindowTest::isSilent));
      pipe.freezeUp(true);
      long takenBefore = taken.get();
      var work = new ArrayList<Task<Long, IOException>>();
      for (BlockingStream sink : up) {
        work.add(
            node.tasks()
                .fork(
                    "write",
                    () -> {
                      write(sink, REST, taken);
                      sink.input().close();
                      return (long) REST;
                    }));
      }
      for (BlockingStream source : down) {
        work.add(node.tasks().fork("read", () -> read(source, REST, read)));
      }
      Recorder.until("the windows are used", () -> read.get() >= AGENT_POOL / 2);
      new Idleness(agent).await();
      pipe.freezeDown(true);
      var before = new AtomicLong(-1);
      var looks = new AtomicInteger();
      // Once is no proof: on a loaded machine a writer may wait for a processor.
      Recorder.until(
          "writers wait with full windows",
          () -> {
            long now = taken.get();
            looks.set(before.getAndSet(now) == now ? looks.get() + 1 : 0);
            return looks.get() >= LOOKS && now - takenBefore >= AGENT_POOL / 2;
          });
      long kept = taken.get() - takenBefore;
      long agentMore = memory(agent) - agentBefore;
      long heapMore = heap() - heapBefore;
      System.err.printf(
          "FullWindowTest %d streams each way: %d MiB kept, heap +%d MiB, agent +%d MiB%n",
          STREAMS, kept >> 20, heapMore >> 20, agentMore >> 20);

      assertTrue(work.stream().noneMatch(Task::isDone), "writers and readers wait");
      assertTrue(kept <= LinkLimits.POOL_BYTES + STREAMS * LinkLimits.SMALL_WINDOW, "kept " + kept);
      assertTrue(heapMore <= 2 * LinkLimits.POOL_BYTES + SLACK, "heap grew by " + heapMore);
      assertTrue(agentMore >= AGENT_POOL / 2, "the agent kept little: " + agentMore);
      assertTrue(
          agentMore <= AGENT_OVERHEAD * AGENT_POOL + SLACK, "the agent grew by " + agentMore);

      pipe.freezeUp(false);
      pipe.freezeDown(false);
      for (Task<Long, IOException> each : work) {
        assertEquals(REST, each.get());
      }
      ends(up, RUN_UP + REST + "\n");
      ends(down, "");
    }
  }

  private static boolean isSilent(BlockingStream stream) {
    try {
      return stream.output(0).available() == 0;
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static void ends(List<BlockingStream> streams, String rest) throws Exception {
    for (BlockingStream stream : streams) {
      String said = new String(stream.output(0).readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(rest.strip(), said.strip());
      assertEquals(Json.object("exit", 0), stream.awaitClose());
    }
  }

  /** Pieces of a byte cost many times their size: they are counted with what they cost. */
  @Test
  void tinyPiecesThatNobodyTakesAreBoundedToo() throws Exception {
    try (Link link = node.link(Clock.system(), PATIENT, this::recorded)) {
      link.connect();
      FaultyPipe pipe = pipes.await(_ -> true);
      var keys = command(link, "cat");
      keys.awaitOpened();
      pipe.freezeUp(true);
      int sent = 0;
      for (int i = 0; i < 3 * LinkLimits.MAX_UNACKNOWLEDGED; i++) {
        sent += keys.stream().trySend(0, ByteBuffer.wrap(new byte[] {'k'}));
      }
      assertTrue(sent > 0 && sent <= LinkLimits.MAX_WINDOW, "sent " + sent);

      pipe.freezeUp(false);
      keys.input().close();
      assertEquals(sent, keys.output(0).readAllBytes().length);
    }
  }
}
