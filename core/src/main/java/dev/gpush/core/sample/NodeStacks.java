package dev.gpush.core.sample;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where the ranks of a run on one node are in their code.
 *
 * @param quiet for how long the run has printed nothing on this node
 * @param progress of a run that prints steps
 * @param looked how long the node looked
 * @param ptraceScope of Yama, which decides whether a process may read the memory of another one of
 *     its user; empty: the kernel has none
 * @param problem why the node said nothing; empty when it answered
 */
public record NodeStacks(
    NodeInfo node,
    List<RankStack> ranks,
    Optional<Duration> quiet,
    Optional<RunProgress> progress,
    Optional<Duration> looked,
    Optional<Integer> ptraceScope,
    String problem) {
  /** Ranks of one node; an answer that has more is cut there. */
  private static final int MOST = 256;

  public NodeStacks {
    ranks = List.copyOf(ranks);
  }

  /** Of the line of the builtin {@code stacks} (docs/technical/why.md). */
  public static NodeStacks from(NodeInfo node, Json said) {
    return new NodeStacks(
        node,
        said.items("ranks").stream().limit(MOST).map(RankStack::from).toList(),
        seconds(said, "quiet_s"),
        RunProgress.from(said),
        seconds(said, "seconds"),
        said.integer("ptrace_scope"),
        "");
  }

  public static NodeStacks silent(NodeInfo node, String problem) {
    return new NodeStacks(
        node,
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        problem);
  }

  private static Optional<Duration> seconds(Json said, String key) {
    return said.real(key).map(number -> Duration.ofMillis(Math.round(number * 1000)));
  }
}
