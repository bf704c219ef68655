package dev.gpush.launch.check;

import dev.gpush.core.json.Json;
import java.util.Map;
import java.util.TreeMap;

/** What one node says of its connections to the others. */
sealed interface PairReply {
  /**
   * It listened and dialled.
   *
   * @param failures the nodes that it did not reach, each with a word for why
   */
  record Dialled(Map<Integer, String> failures) implements PairReply {
    public Dialled {
      failures = Map.copyOf(failures);
    }
  }

  /** It cannot listen on its address, for this reason. */
  record Deaf(String why) implements PairReply {}

  /** It did not answer, for this reason. */
  record Unasked(String why) implements PairReply {}

  /** Of the agent's answer to {@code check.pairs}. */
  static PairReply read(Json answer) {
    if (answer.text("listen").isPresent()) {
      return new Deaf(answer.text("listen").get());
    }
    var failures = new TreeMap<Integer, String>();
    for (Json pair : answer.items("pairs")) {
      pair.text("why").ifPresent(why -> failures.put(pair.integer("node").orElse(0), why));
    }
    return new Dialled(failures);
  }
}
