package dev.gpush.gateway.session;

import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * Where ranks are in their code: one stream of the builtin {@code stacks} on each node. A node that
 * does not answer says why, and delays the others by no more than the limit.
 */
final class StackLook {
  /** A node needs one or two seconds, and fourteen where py-spy and file systems hang. */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  /**
   * The stacks of 64 ranks are a tenth of that, their spots and four data loaders for each two
   * fifths at most.
   */
  private static final int LONGEST = 4 << 20;

  private final LiveSession session;
  private final Optional<Integer> run;
  private final Tasks tasks;

  StackLook(LiveSession session, Optional<Integer> run, Tasks tasks) {
    this.session = session;
    this.run = run;
    this.tasks = tasks;
  }

  List<NodeStacks> take() throws InterruptedException {
    return tasks.each("stacks", session.gang().nodes(), this::of);
  }

  private NodeStacks of(NodeInfo node) throws InterruptedException {
    if (session.isLost(node.index())) {
      return NodeStacks.silent(node, "it is lost");
    }
    LinkState state = NodeSamples.state(session, node.index());
    if (!(state instanceof LinkState.Up)) {
      return NodeStacks.silent(node, "its link is " + SessionViews.word(state));
    }
    try {
      return NodeStacks.from(
          node, Json.parse(tasks.within(PATIENCE, "stacks of a node", () -> read(node))));
    } catch (TimeoutException late) {
      return NodeStacks.silent(node, "it has not answered within " + DurationText.of(PATIENCE));
    } catch (GpushException failed) {
      return NodeStacks.silent(node, FailureText.clause(failed.failure()));
    } catch (IOException broken) {
      return NodeStacks.silent(node, "its answer broke off");
    } catch (JsonSyntaxException wrong) {
      return NodeStacks.silent(node, "it could not look at its processes");
    }
  }

  private String read(NodeInfo node) throws IOException, InterruptedException {
    Json.Obj request =
        Link.builtin("stacks").with("args", Json.object("run", run, "workspace", node.workspace()));
    try (BlockingStream stream = session.link(node.index()).openReady(request)) {
      return new String(stream.output(0).readNBytes(LONGEST), StandardCharsets.UTF_8);
    }
  }
}
