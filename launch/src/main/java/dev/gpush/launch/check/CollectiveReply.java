package dev.gpush.launch.check;

import dev.gpush.core.json.Json;
import dev.gpush.launch.node.MarkedLine;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What one node measured of the collective. */
sealed interface CollectiveReply {
  /**
   * It took part to the end.
   *
   * @param sizes bytes of a message → seconds of one all_reduce of all ranks
   * @param pairs other node → bytes per second of one all_reduce of the ranks of both nodes
   * @param alone seconds of some arithmetic on the node itself
   */
  record Measured(Map<Long, Double> sizes, Map<Integer, Double> pairs, double alone)
      implements CollectiveReply {
    public Measured {
      sizes = Map.copyOf(sizes);
      pairs = Map.copyOf(pairs);
    }
  }

  /** A rank of it failed, or it did not answer. */
  record Broken(String why) implements CollectiveReply {
    private static final List<String> OF_OTHERS =
        List.of("closed by peer", "reset by peer", "timed out", "timeout", "not done after");

    /** Whether it may only be that a rank of another node was gone. */
    boolean mayComeFromAnother() {
      return OF_OTHERS.stream().anyMatch(why.toLowerCase(Locale.ROOT)::contains);
    }
  }

  /** Of what the node printed. */
  static CollectiveReply read(String output) {
    MarkedLine line = MarkedLine.of(output, "gpush-collective");
    Json answer = line.json();
    Optional<String> why = line.problem().or(() -> answer.text("error"));
    if (why.isPresent()) {
      return new Broken(why.get());
    }
    var sizes = new TreeMap<Long, Double>();
    for (Json size : answer.items("sizes")) {
      sizes.put(size.number("bytes").orElse(0L), seconds(size, "seconds"));
    }
    var pairs = new TreeMap<Integer, Double>();
    for (Json pair : answer.items("pairs")) {
      pairs.put(
          pair.integer("with").orElse(0),
          pair.number("bytes").orElse(0L) / seconds(pair, "seconds"));
    }
    return sizes.isEmpty()
        ? new Broken("nothing was measured")
        : new Measured(sizes, pairs, seconds(answer, "alone"));
  }

  /** Above 0: rates are divided by it. */
  private static double seconds(Json json, String name) {
    return Math.max(json.real(name).orElse(0.0), 1e-9);
  }
}
