package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.pace.NodeWaiting;
import dev.gpush.sync.scan.FolderListener;
import dev.gpush.sync.scan.ScanLimits;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** A working tree, some nodes, and a sync between them. */
public class SyncFixture {
  static final int LARGEST_NEW = 1_000_000;

  @TempDir public Path base;
  public final FakeTalk talk = new FakeTalk();
  final List<FakeNode> nodes = new ArrayList<>();
  public WorkFolder laptop;
  public WorkspaceSync sync;
  private Tasks tasks;
  Clock clock = Clock.system();
  Duration rewrite = Duration.ZERO;
  Editors editors = Editors.on(0);

  @BeforeEach
  void start() throws IOException {
    laptop = new WorkFolder(Files.createDirectories(base.resolve("laptop")));
    tasks = Tasks.named("sync-test", (thread, failure) -> failure.printStackTrace());
    sync = gateway();
  }

  @AfterEach
  void stop() throws Exception {
    var all = new ArrayList<AutoCloseable>(List.of(sync::close, tasks::close));
    nodes.forEach(node -> all.add(node::close));
    closeAll(all);
  }

  /** Closes each of them, also after one that fails, and throws the first failure. */
  static void closeAll(List<AutoCloseable> all) throws Exception {
    var failures = new ArrayList<Exception>();
    for (AutoCloseable each : all) {
      try {
        each.close();
      } catch (Exception failed) {
        failures.add(failed);
      }
    }
    if (!failures.isEmpty()) {
      Exception first = failures.removeFirst();
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  private WorkspaceSync gateway() {
    var places =
        GitPlaces.of(Map.of("HOME", base.resolve("home").toString(), "GIT_CONFIG_NOSYSTEM", "1"));
    var scan =
        new TreeScan(
            laptop.path(),
            places,
            ScanLimits.standard(),
            base.resolve("cache"),
            new FolderListener() {},
            clock,
            tasks);
    return new WorkspaceSync(
        scan,
        editors,
        new LocalTrash(base.resolve("trash"), clock),
        LARGEST_NEW,
        Duration.ofMillis(100),
        rewrite,
        clock,
        tasks);
  }

  void nodes(int count) {
    for (int i = 0; i < count; i++) {
      nodes.add(new FakeNode(i, base.resolve("node-" + i + "/project"), base));
    }
  }

  void restartGateway() {
    sync.close();
    sync = gateway();
  }

  List<SyncNode> all() {
    return List.copyOf(nodes);
  }

  /** After a look at everything on node 0. */
  Homecoming.Came comeHome() throws InterruptedException, NodeFailed {
    return sync.comeHome(nodes.getFirst(), NodeWatch.Due.all());
  }

  Generation push() throws InterruptedException {
    return sync.push(all(), PushOptions.standard(), talk);
  }

  /** What a node holds now. It looks at every path, and answers in a conversation of its own. */
  static NodeHolds held(SyncNode node) throws IOException, InterruptedException {
    try (var conversation =
        NodeConversation.open(node, Manifest.empty(), new NodeWaiting(Clock.system()))) {
      return conversation.holds();
    }
  }

  /** Every node holds this generation, and every path is as it was written. */
  void assertAllHold(Generation expected) throws IOException, InterruptedException {
    for (SyncNode node : nodes) {
      NodeHolds held = held(node);
      assertEquals(expected, held.generation());
      assertEquals(Map.of(), held.deviations());
    }
  }

  /** Bytes that went to one node, of which one is meant to be like the other. */
  long traffic(Executable action) throws Exception {
    long before = nodes.stream().mapToLong(node -> node.toNode.get()).max().orElseThrow();
    try {
      action.execute();
    } catch (Exception failed) {
      throw failed;
    } catch (Throwable failed) {
      throw new AssertionError(failed);
    }
    return nodes.stream().mapToLong(node -> node.toNode.get()).max().orElseThrow() - before;
  }

  /** A push holds these, as in {@code a CHANGED_BOTH 0}; everything else has gone. */
  List<String> held() {
    var held = assertInstanceOf(SyncFailure.Held.class, failure(this::push));
    assertEquals(held.paths(), sync.last().held());
    return held.paths().stream()
        .map(each -> each.path() + " " + each.reason() + " " + each.node())
        .toList();
  }

  static Failure failure(Executable action) {
    return assertThrows(GpushException.class, action).failure();
  }

  static void startsAgainEmpty(FakeNode node) throws IOException {
    node.kill();
    WorkFolder.remove(node.folder().path());
    WorkFolder.remove(state(node));
  }

  static Path state(FakeNode node) {
    return Path.of(node.info().state());
  }
}
