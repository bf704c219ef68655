package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.Duplex;
import dev.gpush.sync.node.SyncNode;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Links that are cut while conversations open: work without a user waits for none of them. */
final class LinkCutTest extends SyncFixture {
  private final Tasks work =
      Tasks.named("link-cut", (thread, failure) -> failure.printStackTrace());

  /** Its link is cut before it answers, and stays so: what is opened waits. */
  private static final class CutNode implements SyncNode {
    private final FakeNode node;
    private final CountDownLatch opening = new CountDownLatch(1);
    private final AtomicInteger looks = new AtomicInteger(Integer.MAX_VALUE);

    CutNode(FakeNode node) {
      this.node = node;
    }

    @Override
    public NodeInfo info() {
      return node.info();
    }

    /** Up for the first looks. */
    @Override
    public boolean isReachable() {
      return looks.getAndDecrement() > 0;
    }

    @Override
    public Duplex open() throws IOException, InterruptedException {
      opening.countDown();
      new CountDownLatch(1).await();
      throw new IOException("nobody opens this");
    }
  }

  private CutNode cut;

  @BeforeEach
  void twoNodes() throws IOException {
    nodes(2);
    laptop.write("train.py", "1");
    cut = new CutNode(nodes.get(1));
  }

  @AfterEach
  void close() {
    work.close();
  }

  private List<SyncNode> both() {
    return List.of(nodes.getFirst(), cut);
  }

  private void cutWhileOpening() throws InterruptedException {
    cut.opening.await();
    cut.looks.set(0);
    sync.abandon(cut);
  }

  @Test
  void aSaveWaitsForNoNodeWhoseLinkIsCutWhileItsConversationOpens() throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    Task<WorkspaceSync.Pushed, NodeFailed> save =
        work.fork("save", () -> sync.pushLooked(both(), false));
    cutWhileOpening();

    assertEquals(1, assertThrows(NodeFailed.class, save::get).node());
    assertEquals(List.of("train.py"), sync.pushLooked(List.of(nodes.getFirst()), false).paths());
  }

  @Test
  void aLinkThatIsCutBeforeItsConversationOpensIsSeen() throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    cut.looks.set(1);

    assertEquals(1, assertThrows(NodeFailed.class, () -> sync.pushLooked(both(), false)).node());
  }

  @Test
  void aGatewayThatTakesOverLearnsNothingOfANodeWhoseLinkIsCut() throws Exception {
    Task<Optional<?>, RuntimeException> learned = work.fork("learn", () -> sync.learn(both()));
    cutWhileOpening();

    assertEquals(Optional.empty(), learned.get());
  }

  @Test
  void aNodeWhoseLinkIsCutDoesNotCountAsLookedAt() throws Exception {
    sync.rescan(Optional.empty(), Set.of());
    Task<Homecoming.Came, NodeFailed> came =
        work.fork("come", () -> sync.comeHome(cut, NodeWatch.Due.all()));
    cutWhileOpening();

    assertThrows(NodeFailed.class, came::get);
  }
}
