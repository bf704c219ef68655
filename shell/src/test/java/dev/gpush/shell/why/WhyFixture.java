package dev.gpush.shell.why;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.sample.NodeStacks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/** Ranks as the agents tell of them. */
public final class WhyFixture {
  private static final String TORCH = "torch/distributed/distributed_c10d.py";

  private WhyFixture() {}

  public static NodeInfo info(int node) {
    return new NodeInfo(node, "gpu0" + node, "10.0.0." + node, List.of("0", "1"), "H100", 96, "/w");
  }

  /** A node on which the run has printed nothing for a time. */
  public static NodeStacks node(int node, double quiet, Json... ranks) {
    Json said =
        Json.object(
            "run",
            7,
            "seconds",
            1.1,
            "quiet_s",
            quiet,
            "ptrace_scope",
            1,
            "ranks",
            Arrays.asList(ranks));
    return NodeStacks.from(info(node), said);
  }

  /** As a run tells that prints its steps; rates of zero are not known. */
  public static NodeStacks stepping(NodeStacks node, Json progress) {
    return new NodeStacks(
        node.node(),
        node.ranks(),
        node.quiet(),
        NodeStacks.from(node.node(), Json.object("progress", progress)).progress(),
        node.looked(),
        node.ptraceScope(),
        node.problem());
  }

  /** At this place of its code, innermost first; asleep. */
  public static Json rank(int rank, Json... frames) {
    return Json.object(
        "rank",
        rank,
        "pid",
        100 + rank,
        "state",
        "S",
        "cpu",
        0.4,
        "wait",
        new Json.Null(),
        "moved",
        false,
        "problem",
        new Json.Null(),
        "frames",
        Arrays.asList(frames));
  }

  public static Json waiting(int rank, String collective, String file, int line) {
    return rank(
        rank,
        library(collective, TORCH),
        library("wrapper", "torch/distributed/c10d_logger.py"),
        own("step", file, line));
  }

  public static Json inCode(int rank, String function, String file, int line) {
    return rank(rank, library("Event.wait", "threading.py"), own(function, file, line));
  }

  public static Json loading(int rank) {
    return rank(
        rank,
        library("Queue.get", "multiprocessing/queues.py"),
        library("_MultiProcessingDataLoaderIter._next_data", "torch/utils/data/dataloader.py"),
        own("<module>", "train.py", 30));
  }

  /** Without a stack. */
  public static Json unseen(int rank, String state, double cpu, String code, String said) {
    return with(
        rank(rank),
        "frames",
        new Json.Null(),
        "moved",
        new Json.Null(),
        "state",
        state,
        "cpu",
        cpu,
        "problem",
        Json.object("code", code, "said", said));
  }

  public static Json moved(Json rank) {
    return with(rank, "moved", true);
  }

  /** Looked at a single time. */
  static Json once(Json rank) {
    return with(rank, "moved", new Json.Null());
  }

  public static Json with(Json rank, Object... changes) {
    var changed = (Json.Obj) rank;
    for (int at = 0; at < changes.length; at += 2) {
      changed = changed.with((String) changes[at], changes[at + 1]);
    }
    return changed;
  }

  static Json own(String function, String file, int line) {
    return Json.object("name", function, "file", file, "line", line, "own", true);
  }

  static Json library(String function, String file) {
    return Json.object("name", function, "file", file, "line", 81, "own", false);
  }

  /** Ranks of these numbers. */
  static List<Json> each(int first, int after, IntFunction<Json> rank) {
    var all = new ArrayList<Json>();
    for (int number = first; number < after; number++) {
      all.add(rank.apply(number));
    }
    return all;
  }
}
