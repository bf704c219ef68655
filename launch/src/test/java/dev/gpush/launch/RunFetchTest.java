package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.run.Attempts;
import dev.gpush.launch.run.RunFetch;
import dev.gpush.launch.run.RunRecord;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One node with the streams that the test puts there; without one its link is over. */
final class RunFetchTest {
  @TempDir private Path folder;
  private final ArrayDeque<InputStream> streams = new ArrayDeque<>();
  private final FakeTalk talk = new FakeTalk();
  private boolean isLost;
  private List<Streams> nodes = List.of(new Streams());
  private final CountDownLatch tried = new CountDownLatch(10);

  private void fetch() throws InterruptedException {
    var info = new NodeInfo(0, "host", "10.0.0.1", List.of("0"), "H100", 8, "/ws");
    var site =
        new LaunchSite(
            new SessionName("devbox"),
            "0123456789",
            folder,
            false,
            nodes.stream().map(node -> new LaunchNode(() -> info, node)).toList(),
            folder.resolve("history"),
            Optional.empty());
    List<Json.Obj> parts =
        IntStream.range(0, nodes.size()).mapToObj(node -> Json.object("node", node)).toList();
    RunRecord record = RunRecord.from(Json.object("run", 7, "parts", parts)).orElseThrow();
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      new RunFetch(site, tasks).fetch(record, new Attempts(1, 0), folder, talk);
    }
  }

  private static InputStream printed(int rank, String text) {
    return new ByteArrayInputStream(Journals.out(rank, text));
  }

  private List<String> files() throws IOException {
    try (var files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aFetchThatBreaksLeavesWhatAnEarlierOneBrought() throws Exception {
    streams.add(printed(0, "whole\n"));
    fetch();
    streams.add(new SequenceInputStream(printed(0, "wh"), new Broken()));

    assertThrows(GpushException.class, this::fetch);

    assertEquals("whole\n", Files.readString(folder.resolve("rank-0.log")));
    assertEquals(List.of(".gitignore", "rank-0.log"), files());
  }

  @Test
  void ofFetchesThatBreakTheLongestIsKept() throws Exception {
    for (String text : List.of("wh", "whole", "who")) {
      streams.add(new SequenceInputStream(printed(0, text), new Broken()));
      assertThrows(GpushException.class, this::fetch);
    }

    assertEquals("whole", Files.readString(folder.resolve("rank-0.log")));
    assertEquals(List.of(".gitignore", "rank-0.log"), files());
  }

  @Test
  void eachNodeOfWhichOutputIsMissingIsNamed() {
    nodes = List.of(new Streams(), new Streams());

    assertThrows(GpushException.class, this::fetch);

    assertEquals(
        List.of(
            "the output of node 0 was not fetched to its end",
            "the output of node 1 was not fetched to its end"),
        talk.said());
  }

  @Test
  void outputThatANodeCannotReadOnIsNotTakenForWhole() throws Exception {
    for (int i = 0; i < 100; i++) {
      streams.add(new Broken());
    }

    var failed = assertThrows(GpushException.class, this::fetch);

    assertEquals(new LaunchFailure.CutOutput(7, 0), failed.failure());
    assertEquals(List.of(".gitignore"), files());
  }

  @Test
  void aNodeThatCannotReadOnCostsNoOtherItsOutput() throws Exception {
    streams.add(new SequenceInputStream(printed(0, "wh"), new Broken()));
    for (int i = 0; i < 100; i++) {
      streams.add(new Broken());
    }
    var later = new Streams();
    later.isLater = true;
    nodes = List.of(new Streams(), later);

    var failed = assertThrows(GpushException.class, this::fetch);

    assertEquals(new LaunchFailure.CutOutput(7, 0), failed.failure());
    assertEquals(List.of(".gitignore", "rank-0.log", "rank-1.log"), files());
    assertEquals("wh", Files.readString(folder.resolve("rank-0.log")));
    assertEquals("whole\n", Files.readString(folder.resolve("rank-1.log")));
  }

  @Test
  void aFullDiskLeavesNoFilesInPart() throws Exception {
    for (int rank = 0; rank < 2; rank++) {
      Files.createSymbolicLink(folder.resolve("rank-" + rank + ".log.part"), Path.of("/dev/full"));
    }
    streams.add(new SequenceInputStream(printed(0, "a"), printed(1, "b")));

    assertThrows(GpushException.class, this::fetch);

    assertEquals(List.of(".gitignore"), files());
  }

  @Test
  void whatCameOfANodeThatIsLostIsKept() throws Exception {
    streams.add(new SequenceInputStream(printed(1, "wh"), new Broken()));
    isLost = true;
    fetch();

    assertEquals("wh", Files.readString(folder.resolve("rank-1.log")));
  }

  private static final class Broken extends InputStream {
    @Override
    public int read() throws IOException {
      throw new IOException("the link is over");
    }
  }

  private final class Streams extends CallsOnly {
    /** It prints its output when the other node was asked for the last time. */
    private boolean isLater;

    Streams() {
      super(
          method -> {
            throw new UnsupportedOperationException(method);
          });
    }

    @Override
    public boolean isLost() {
      return isLost;
    }

    @Override
    public InputStream follow(Json.Obj arguments) throws InterruptedException {
      if (isLater) {
        tried.await();
        return printed(1, "whole\n");
      }
      tried.countDown();
      if (streams.isEmpty()) {
        throw new GpushException(new AgentFailure.LinkOver(0, "the test cut it"));
      }
      return streams.remove();
    }
  }
}
