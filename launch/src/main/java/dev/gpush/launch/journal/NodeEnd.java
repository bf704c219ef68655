package dev.gpush.launch.journal;

import dev.gpush.core.json.Json;
import dev.gpush.launch.journal.RunEvent.RankEnd;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How the part of a run on one node ended: its exit.json.
 *
 * @param first the node's first failing rank
 * @param isStopped it was asked to stop
 * @param isLost its supervisor was killed; nothing else is known then
 * @param portTaken another program had the rendezvous port
 */
public record NodeEnd(
    RankEnd end,
    Optional<First> first,
    boolean isStopped,
    boolean isLost,
    Optional<Integer> portTaken) {
  /**
   * A failure.
   *
   * @param atMs since the start of the run on its node
   * @param isAsked the node had been asked to stop before, so this failure is not the cause
   */
  record First(int rank, RankEnd end, long atMs, boolean isAsked) {}

  public static NodeEnd lost() {
    return from(Json.object("lost", true));
  }

  public static NodeEnd from(Json json) {
    Optional<First> first =
        json.get("first")
            .map(
                found ->
                    new First(
                        found.number("rank").map(Math::toIntExact).orElse(-1),
                        RankEnd.from(found),
                        found.number("at_ms").orElse(0L),
                        found.flag("asked")));
    return new NodeEnd(
        RankEnd.from(json),
        first,
        json.flag("stopped"),
        json.flag("lost"),
        json.number("port_taken").map(Math::toIntExact));
  }

  /**
   * The exit status of a run: of the rank that failed first, wherever it was. Ranks that were asked
   * to stop count only when no other failed.
   *
   * @param startsMs when each node's part was started, on one clock
   */
  public static int status(List<NodeEnd> ends, List<Long> startsMs) {
    var failures = new ArrayList<Failed>();
    for (int i = 0; i < ends.size(); i++) {
      NodeEnd node = ends.get(i);
      long start = startsMs.get(i);
      if (node.first().isPresent()) {
        First first = node.first().get();
        failures.add(new Failed(first.isAsked(), start + first.atMs(), first.end().status()));
      } else if (node.end().isFailure()) {
        failures.add(new Failed(node.isStopped(), Long.MAX_VALUE, node.end().status()));
      }
    }
    return failures.stream()
        .min(Comparator.comparing(Failed::isAsked).thenComparingLong(Failed::atMs))
        .map(Failed::status)
        .orElse(0);
  }

  private record Failed(boolean isAsked, long atMs, int status) {}
}
