package dev.gpush.sync.pace;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Notices the nodes that hold up an operation: a save goes on without them, and a command names
 * them. Thread-safe.
 *
 * <p>A node may work for long without a byte, for example while it looks at many paths on a slow
 * disk. So each time that it was given up, it gets twice as long the next time.
 */
public final class SlowNodes {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** At most some minutes. */
  private static final int MOST_DOUBLINGS = 5;

  /** Slowness is that nothing happens, so there is no event to wait for. */
  private static final Duration LOOK_PAUSE = Duration.ofMillis(100);

  private final Clock clock;
  private final Tasks tasks;
  private volatile NodeStep step;

  // guarded by this
  private final Map<Integer, Integer> doublings = new HashMap<>();

  public SlowNodes(Clock clock, Tasks tasks) {
    this.clock = clock;
    this.tasks = tasks;
    this.step = new NodeStep(0, Map.of(), clock);
  }

  /** Ends with the operation. */
  public interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  public NodeWaiting newWaiting() {
    return new NodeWaiting(clock);
  }

  /** The operation does this now, and nothing else until it is done. */
  public NodeStep begin(int all, Map<Integer, NodeWaiting> left) {
    NodeStep begun = new NodeStep(all, left, clock);
    step = begun;
    return begun;
  }

  /** Those for which the present step waits. */
  public List<Integer> awaited() {
    return step.left();
  }

  /** Calls this again and again, on another thread, with those that are slow at that moment. */
  public Watch watch(Consumer<List<NodeStep.Slow>> found) {
    Task<Boolean, RuntimeException> looks =
        tasks.fork(
            "slow-nodes",
            () -> {
              while (true) {
                Thread.sleep(LOOK_PAUSE);
                found.accept(step.slow(this::limit));
              }
            });
    return () -> {
      looks.cancel();
      looks.join();
      found.accept(List.of());
    };
  }

  /** Names to the user those for which a command waits. */
  public Watch name(Talk talk) {
    var shown = new HashMap<NodeStep.Slow, Talk.Step>();
    return watch(
        slow -> {
          shown.entrySet().removeIf(each -> isOver(each, slow));
          slow.forEach(each -> shown.computeIfAbsent(each, it -> talk.step(words(it))));
        });
  }

  private static boolean isOver(
      Map.Entry<NodeStep.Slow, Talk.Step> shown, List<NodeStep.Slow> slow) {
    if (slow.contains(shown.getKey())) {
      return false;
    }
    shown.getValue().close();
    return true;
  }

  private static String words(NodeStep.Slow slow) {
    return "waiting for node " + slow.node() + ", which " + slow.why();
  }

  private synchronized Duration limit(int node) {
    return PATIENCE.multipliedBy(1L << doublings.getOrDefault(node, 0));
  }

  public synchronized void givenUp(int node) {
    doublings.merge(node, 1, (times, one) -> Math.min(times + one, MOST_DOUBLINGS));
  }

  /** These have done all that was asked. */
  public synchronized void quick(Collection<Integer> nodes) {
    doublings.keySet().removeAll(nodes);
  }
}
