package dev.gpush.launch.journal;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.launch.journal.RunEvent.RankEnd;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How the part of a run on one node ended: its exit.json.
 *
 * @param isStopped it was asked to stop
 * @param isLost its supervisor was killed; nothing else is known then
 * @param portTaken another program used the rendezvous port
 * @param failures all that failed there, those of one reason together; one without a reason where
 *     the agent writes none
 * @param left what is left there of a run that failed
 */
public record NodeEnd(
    RankEnd end,
    boolean isStopped,
    boolean isLost,
    Optional<Integer> portTaken,
    List<Failed> failures,
    Json.Obj left) {
  public NodeEnd {
    failures = List.copyOf(failures);
  }

  /**
   * A failure.
   *
   * @param ranks the first of them failed first
   * @param atMs since the start of the run on its node
   * @param isAsked the node had been asked to stop by then, so that it tells nothing
   * @param reason the facts; empty of an agent that writes none
   */
  public record Failed(
      List<Integer> ranks, RankEnd end, long atMs, boolean isAsked, Json.Obj reason) {
    public Failed {
      ranks = List.copyOf(ranks);
    }

    /** It only noticed that another rank was gone. */
    boolean isConsequence() {
      return reason.text("code").orElse("").equals("peer");
    }

    public int rank() {
      return ranks.isEmpty() ? -1 : ranks.getFirst();
    }

    private static Failed from(Json found, List<Integer> ranks) {
      return new Failed(
          ranks,
          RankEnd.from(found),
          found.number("at_ms").orElse(0L),
          found.flag("asked"),
          found.object("reason"));
    }
  }

  /**
   * The failure that counts.
   *
   * @param node where, as an index into the list of ends
   */
  public record Earliest(int node, Failed failed) {}

  public static NodeEnd lost() {
    return from(Json.object("lost", true));
  }

  public static NodeEnd from(Json json) {
    var failures = new ArrayList<Failed>();
    json.get("first")
        .ifPresent(
            found -> failures.add(Failed.from(found, List.of(found.integer("rank").orElse(-1)))));
    for (Json found : json.items("failures")) {
      failures.add(Failed.from(found, RunFailure.numbers(found, "ranks")));
    }
    return new NodeEnd(
        RankEnd.from(json),
        json.flag("stopped"),
        json.flag("lost"),
        json.integer("port_taken"),
        failures,
        json.object("left"));
  }

  /**
   * The exit status of a run: of the rank that failed first, wherever it was.
   *
   * @param startsMs when each node's part was started, on one clock
   */
  public static int status(List<NodeEnd> ends, List<Long> startsMs) {
    return earliest(ends, startsMs).map(first -> first.failed().end().status()).orElse(0);
  }

  /**
   * Who failed first. Ranks that were asked to stop count only when no other failed, and those that
   * lost a connection only when nobody has a reason of its own.
   */
  public static Optional<Earliest> earliest(List<NodeEnd> ends, List<Long> startsMs) {
    var failures = new ArrayList<Candidate>();
    for (int i = 0; i < ends.size(); i++) {
      NodeEnd node = ends.get(i);
      for (Failed failed : node.failures()) {
        failures.add(new Candidate(new Earliest(i, failed), startsMs.get(i) + failed.atMs()));
      }
      if (node.failures().isEmpty() && node.end().isFailure()) {
        var whole = new Failed(List.of(-1), node.end(), 0, node.isStopped(), Json.object());
        failures.add(new Candidate(new Earliest(i, whole), Long.MAX_VALUE));
      }
    }
    return failures.stream()
        .min(
            Comparator.comparing(Candidate::isAsked)
                .thenComparing(Candidate::isConsequence)
                .thenComparingLong(Candidate::atMs))
        .map(Candidate::earliest);
  }

  private record Candidate(Earliest earliest, long atMs) {
    boolean isAsked() {
      return earliest.failed().isAsked();
    }

    boolean isConsequence() {
      return earliest.failed().isConsequence();
    }
  }
}
