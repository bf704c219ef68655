package dev.gpush.testkit.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FakeBackendTest implements BackendContract {
  @TempDir private Path folder;

  @Override
  public BackendPlace open() {
    return new Place(folder, FakeTrouble.none(new Random().nextLong()));
  }

  @Test
  void aReplyThatIsLostLeavesNothing() throws Exception {
    FakeTrouble trouble = FakeTrouble.none(1);
    try (var place = new Place(folder, trouble)) {
      trouble.fail(Operation.RESERVE, Moment.AFTER);

      GpushException thrown =
          assertThrows(GpushException.class, () -> place.backend().reserve(place.request(2, LONG)));

      assertInstanceOf(BackendFailure.Unavailable.class, thrown.failure());
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aReleaseWhoseReplyIsLostCanBeAskedAgain() throws Exception {
    FakeTrouble trouble = FakeTrouble.none(2);
    try (var place = new Place(folder, trouble)) {
      Gang gang = place.backend().reserve(place.request(2, LONG));
      trouble.fail(Operation.RELEASE, Moment.AFTER);

      GpushException thrown =
          assertThrows(GpushException.class, () -> place.backend().release(gang, LIMIT));

      assertInstanceOf(BackendFailure.NotReleased.class, thrown.failure());
      assertEquals(List.of(), place.backend().release(gang, LIMIT));
    }
  }

  @Test
  void aGateHoldsAReservationUntilItIsInterrupted() throws Exception {
    FakeTrouble trouble = FakeTrouble.none(3);
    try (var place = new Place(folder, trouble);
        Tasks tasks = Tasks.named("gate", (_, _) -> {})) {
      FakeTrouble.Gate gate = trouble.hold(Operation.RESERVE, Moment.AFTER);
      GangRequest request = place.request(1, LONG);
      var reserving = new CompletableFuture<Thread>();
      Task<Boolean, RuntimeException> heard =
          tasks.fork(
              "reserve",
              () -> {
                reserving.complete(Thread.currentThread());
                assertThrows(InterruptedException.class, () -> place.backend().reserve(request));
                return true;
              });

      gate.awaitReached();
      assertEquals(1, place.backend().discover(BackendPlace.OWNER).size());
      reserving.get().interrupt();

      assertEquals(true, heard.get(LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aSiteInTroubleCannotTell() throws Exception {
    FakeTrouble trouble = FakeTrouble.none(4);
    try (var place = new Place(folder, trouble)) {
      Gang gang = place.backend().reserve(place.request(1, LONG));
      trouble.fail(Operation.OBSERVE, Moment.BEFORE);

      assertInstanceOf(Observation.CannotTell.class, place.backend().observe(gang));
      assertInstanceOf(Observation.Exists.class, place.backend().observe(gang));
    }
  }

  /** The same where disks go with the gang. */
  @Nested
  final class OnPassingDisks implements BackendContract {
    @Override
    public BackendPlace open() {
      return new Place(folder, FakeTrouble.none(new Random().nextLong())) {
        @Override
        public FakeBackend backend() {
          return super.backend().onPassingDisks();
        }

        @Override
        public FakeBackend again() {
          return super.again().onPassingDisks();
        }
      };
    }
  }

  /** Eight GPUs, two per node. */
  private static class Place implements BackendPlace {
    private final Path nodes;
    private final ManualClock clock = new ManualClock();
    private final Random random = new Random();
    private final FakeSite site;

    Place(Path folder, FakeTrouble trouble) {
      this.nodes = folder.resolve("nodes");
      this.site = new FakeSite(nodes, 8, clock, trouble);
    }

    @Override
    public FakeBackend backend() {
      return FakeBackend.bare("fake", site);
    }

    @Override
    public FakeBackend again() {
      return FakeBackend.bare("fake", site);
    }

    @Override
    public GangRequest request(int count, LeaseTerms lease) {
      return GangRequest.of(
          GangId.random(random),
          new Requester(OWNER, "home@host", "devbox", "project"),
          count,
          GpuRequest.parse("2"),
          lease);
    }

    @Override
    public int capacity() {
      return 4;
    }

    @Override
    public GangRequest never() {
      return request(5, LONG);
    }

    @Override
    public List<String> slots(NodeInfo node) {
      return node.slots();
    }

    @Override
    public void kill(Gang gang, int node) {
      site.kill(gang.id(), node);
    }

    @Override
    public List<String> leftovers() throws IOException {
      var left = new ArrayList<String>();
      site.holdings().forEach(holding -> left.add("gang " + holding.gang().id()));
      if (Files.exists(nodes)) {
        try (Stream<Path> walk = Files.walk(nodes)) {
          walk.filter(Files::isRegularFile).forEach(file -> left.add("file " + file));
        }
      }
      return left;
    }

    @Override
    public String read(Gang gang, int node, String path) throws IOException {
      return Files.readString(Path.of(path));
    }

    @Override
    public void onPoll() {
      clock.advance(Duration.ofMillis(100));
    }

    @Override
    public void close() {}
  }
}
