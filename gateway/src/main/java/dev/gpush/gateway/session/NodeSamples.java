package dev.gpush.gateway.session;

import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.Samples;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One stream of the builtin {@code sample} on each node, and of each the newest sample only: nodes
 * sample at their own pace, and a reader that is slow misses samples and nothing else. A stream
 * that ends is opened again, so a node that was replaced comes back.
 */
final class NodeSamples implements Samples {
  /** Between two attempts at a node that gives no samples. */
  private static final Duration RETRY = Duration.ofSeconds(2);

  /** How long a reader may wait after the session has ended. */
  private static final Duration SESSION_LOOK = Duration.ofSeconds(1);

  /** A node with 16 GPUs, 32 ports and a hundred ranks says a tenth of that. */
  private static final int LONGEST = 256 * 1024;

  private final LiveSession session;
  private final List<Integer> nodes;
  private final Duration interval;
  private final Clock clock;
  private final Tasks followers;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();

  // guarded by lock
  private final Map<Integer, Latest> latest = new TreeMap<>();

  /**
   * @param nanos when it came
   * @param isNew since the reader's last call
   */
  private record Latest(Optional<NodeSample> sample, long nanos, boolean isNew, String problem) {
    Latest seen() {
      return new Latest(sample, nanos, false, problem);
    }

    Latest failing(String why) {
      return new Latest(sample, nanos, isNew, why);
    }
  }

  /**
   * Starts it.
   *
   * @param node empty: all
   */
  NodeSamples(
      LiveSession session, Optional<Integer> node, Duration interval, Clock clock, Tasks tasks) {
    this.session = session;
    this.nodes =
        node.map(one -> List.of(session.node(one).index()))
            .orElseGet(() -> session.gang().nodes().stream().map(NodeInfo::index).toList());
    this.interval = interval;
    this.clock = clock;
    this.followers = tasks.group("samples");
    for (int each : nodes) {
      latest.put(each, new Latest(Optional.empty(), clock.nanos(), false, ""));
      followers.start("node-" + each, () -> follow(each));
    }
  }

  @Override
  public List<NodeReading> next(Duration limit) throws InterruptedException {
    requireSession();
    lock.lockInterruptibly();
    try {
      long left = limit.toNanos();
      while (left > 0 && !isRound()) {
        long part = Math.min(left, SESSION_LOOK.toNanos());
        left += arrived.awaitNanos(part) - part;
        requireSession();
      }
      List<NodeReading> readings = readings();
      latest.replaceAll((_, each) -> each.seen());
      return readings;
    } finally {
      lock.unlock();
    }
  }

  private void requireSession() {
    session
        .gone()
        .ifPresent(
            reason -> {
              throw new GpushException(new SessionFailure.Gone(session.name().text(), reason));
            });
    session.requireUsable();
  }

  /** Whether each node that answers has sampled since the last call. */
  private boolean isRound() {
    boolean isAny = false;
    for (int node : nodes) {
      Latest now = latestOf(node);
      boolean isAwaited = now.problem().isEmpty() && state(session, node) instanceof LinkState.Up;
      if (isAwaited && !now.isNew()) {
        return false;
      }
      isAny |= now.isNew();
    }
    return isAny;
  }

  private List<NodeReading> readings() {
    List<NodeInfo> infos = session.gang().nodes();
    var readings = new ArrayList<NodeReading>();
    for (int node : nodes) {
      Latest now = latestOf(node);
      readings.add(
          new NodeReading(
              infos.get(node),
              SessionViews.word(state(session, node)),
              now.sample(),
              now.sample().map(_ -> Duration.ofNanos(clock.nanos() - now.nanos())),
              session.isLost(node) ? "lost" : now.problem()));
    }
    return readings;
  }

  private Latest latestOf(int node) {
    return latest.getOrDefault(node, new Latest(Optional.empty(), clock.nanos(), false, ""));
  }

  static LinkState state(LiveSession session, int node) {
    List<Link> links = session.links();
    return node < links.size() ? links.get(node).state() : new LinkState.Idle();
  }

  private void follow(int node) throws InterruptedException {
    do {
      try {
        read(node);
        fail(node, "its sampler has ended");
      } catch (GpushException failed) {
        fail(node, FailureText.clause(failed.failure()));
      } catch (IOException broken) {
        fail(node, "its samples broke off");
      } catch (JsonSyntaxException wrong) {
        fail(node, "it sends something that is no sample");
      }
    } while (!closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS));
  }

  private void read(int node) throws IOException, InterruptedException {
    try (BlockingStream stream = session.link(node).openReady(request(session.node(node)))) {
      var lines = new BufferedInputStream(stream.output(0));
      for (Optional<String> line = line(lines); line.isPresent(); line = line(lines)) {
        take(node, NodeSample.from(Json.parse(line.get())));
      }
    }
  }

  /** A node without GPUs of the session does not look for any. */
  private Json.Obj request(NodeInfo node) {
    return Link.builtin("sample")
        .with(
            "args",
            Json.object(
                "interval_s",
                interval.toMillis() / 1000.0,
                "workspace",
                node.workspace(),
                "gpus",
                node.hasGpus() ? node.slots() : List.of()));
  }

  /** Empty at the end. */
  private static Optional<String> line(InputStream in) throws IOException {
    var line = new ByteArrayOutputStream();
    for (int each = in.read(); each != '\n'; each = in.read()) {
      if (each < 0) {
        return Optional.empty();
      }
      if (line.size() >= LONGEST) {
        throw new IOException("a longer line than any sample");
      }
      line.write(each);
    }
    return Optional.of(line.toString(StandardCharsets.UTF_8));
  }

  private void take(int node, NodeSample sample) {
    put(node, new Latest(Optional.of(sample), clock.nanos(), true, ""));
  }

  private void fail(int node, String why) {
    lock.lock();
    try {
      put(node, latestOf(node).failing(why));
    } finally {
      lock.unlock();
    }
  }

  private void put(int node, Latest now) {
    lock.lock();
    try {
      latest.put(node, now);
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    closed.countDown();
    followers.close();
  }
}
