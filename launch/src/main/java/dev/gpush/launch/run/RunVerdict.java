package dev.gpush.launch.run;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunReason;
import dev.gpush.launch.journal.NodeEnd;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.IntFunction;

/**
 * What the ends of a run's nodes say together: who failed first, where, and who in the same way.
 */
final class RunVerdict {
  /** Facts of one process or one moment; ranks that differ only in these failed in the same way. */
  private static final List<String> OF_ONE = List.of("process", "xids", "free", "last", "of_rank");

  private final List<NodeInfo> session;
  private final List<RunRecord.Part> parts;
  private final List<NodeEnd> ends;

  /**
   * @param session all nodes of it, by their indexes
   * @param ends in the order of the parts
   */
  RunVerdict(List<NodeInfo> session, List<RunRecord.Part> parts, List<NodeEnd> ends) {
    this.session = List.copyOf(session);
    this.parts = List.copyOf(parts);
    this.ends = List.copyOf(ends);
  }

  /**
   * Who failed first; empty when nobody did.
   *
   * @param loss why a node of the session has no result, if it has none
   */
  Optional<RunFailure> failure(IntFunction<RunReason.Loss> loss) {
    for (int i = 0; i < ends.size(); i++) {
      if (ends.get(i).isLost()) {
        return Optional.of(lost(i, loss.apply(parts.get(i).node())));
      }
    }
    List<Long> starts = parts.stream().map(RunRecord.Part::startMs).toList();
    return NodeEnd.earliest(ends, starts).map(this::failure);
  }

  private RunFailure lost(int index, RunReason.Loss loss) {
    Json.Obj facts = Json.object("code", "node-lost", "what", loss.word());
    return new RunFailure(
        -1, where(index, -1), Optional.empty(), Optional.empty(), facts, List.of(), left());
  }

  private RunFailure failure(NodeEnd.Earliest first) {
    int rank = first.failed().rank();
    return new RunFailure(
        rank,
        where(first.node(), rank),
        first.failed().end().exit(),
        first.failed().end().signal(),
        first.failed().reason(),
        same(first),
        left());
  }

  private RunFailure.Where where(int index, int rank) {
    RunRecord.Part part = parts.get(index);
    NodeInfo node = session.get(part.node());
    int local = rank - part.firstRank();
    boolean hasGpu =
        node.hasGpus() && local >= 0 && local < part.slots().size() && part.ranks() > 1;
    boolean hasOnly = node.hasGpus() && rank >= 0 && part.slots().size() == 1;
    boolean isAlone =
        session.stream().filter(other -> other.host().equals(node.host())).count() == 1;
    return new RunFailure.Where(
        node.index(),
        node.host(),
        isAlone,
        hasGpu || hasOnly ? Optional.of(part.slots().get(hasOnly ? 0 : local)) : Optional.empty());
  }

  private List<Integer> same(NodeEnd.Earliest first) {
    Json.Obj wanted = general(first.failed().reason());
    if (wanted.fields().isEmpty()) {
      return List.of();
    }
    var ranks = new TreeSet<Integer>();
    for (NodeEnd end : ends) {
      for (NodeEnd.Failed failed : end.failures()) {
        if (general(failed.reason()).equals(wanted)) {
          ranks.addAll(failed.ranks());
        }
      }
    }
    ranks.remove(first.failed().rank());
    return List.copyOf(ranks);
  }

  private static Json.Obj general(Json.Obj reason) {
    var fields = new LinkedHashMap<>(reason.fields());
    fields.keySet().removeAll(OF_ONE);
    return new Json.Obj(fields);
  }

  private List<Json> left() {
    var left = new ArrayList<Json>();
    for (int i = 0; i < ends.size(); i++) {
      if (!ends.get(i).left().fields().isEmpty()) {
        NodeInfo node = session.get(parts.get(i).node());
        left.add(ends.get(i).left().with("node", node.index()).with("host", node.host()));
      }
    }
    return left;
  }
}
