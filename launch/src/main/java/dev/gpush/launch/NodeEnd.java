package dev.gpush.launch;

import dev.gpush.core.json.Json;
import dev.gpush.launch.RunEvent.RankEnd;
import java.util.List;
import java.util.Optional;

/**
 * How the part of a run on one node ended: its exit.json.
 *
 * @param first the node's first failing rank
 * @param isStopped somebody asked it to stop
 * @param isLost its supervisor was killed; nothing else is known then
 * @param portTaken somebody else had the rendezvous port
 */
record NodeEnd(
    RankEnd end,
    Optional<First> first,
    boolean isStopped,
    boolean isLost,
    Optional<Integer> portTaken) {
  /**
   * @param atMs since the start of the run on its node
   */
  record First(int rank, RankEnd end, long atMs) {}

  static NodeEnd lost() {
    return from(Json.object("lost", true));
  }

  static NodeEnd from(Json json) {
    Optional<First> first =
        json.get("first")
            .map(
                found ->
                    new First(
                        found.number("rank").map(Math::toIntExact).orElse(-1),
                        RankEnd.from(found),
                        found.number("at_ms").orElse(0L)));
    return new NodeEnd(
        RankEnd.from(json),
        first,
        json.flag("stopped"),
        json.flag("lost"),
        json.number("port_taken").map(Math::toIntExact));
  }

  /**
   * The exit status of a run: of the rank that failed first, wherever it was.
   *
   * @param startsMs when each node's part was started, on one clock
   */
  static int status(List<NodeEnd> ends, List<Long> startsMs) {
    long earliest = Long.MAX_VALUE;
    int status = 0;
    for (int i = 0; i < ends.size(); i++) {
      NodeEnd end = ends.get(i);
      long at = end.first().map(First::atMs).orElse(Long.MAX_VALUE / 2) + startsMs.get(i);
      int own = end.first().map(failed -> failed.end().status()).orElse(end.end().status());
      if (own != 0 && at < earliest) {
        earliest = at;
        status = own;
      }
    }
    return status;
  }
}
