package dev.gpush.backends.slurm.cluster;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.text.PhraseTable;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Why a job has not started, in plain words, and whether waiting makes sense. Slurm accepts jobs
 * that can never run and lets them wait; gpush must not wait with them.
 *
 * @param sense of waiting
 */
public record WaitReason(String words, Sense sense) {
  /** Whether waiting makes sense. */
  public enum Sense {
    WAITS,
    /**
     * It will not start as requested, if that is so right after it was submitted. Later an
     * administrator has changed a limit, perhaps only until a maintenance is over.
     */
    EARLY,
    /** It will never start as requested. */
    NEVER;

    private static Sense of(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT));
    }
  }

  private static final List<Rule> RULES =
      PhraseTable.rows(WaitReason.class, "wait-reasons.txt", 3).stream()
          .map(row -> new Rule(Pattern.compile(row.get(0)), Sense.of(row.get(1)), row.get(2)))
          .toList();

  private record Rule(Pattern word, Sense sense, String words) {
    WaitReason of(String said) {
      return new WaitReason(words.replace("%s", ClusterText.clean(said)), sense);
    }
  }

  /**
   * Whether it will never start as requested.
   *
   * @param isNew it was submitted just now
   */
  public boolean isHopeless(boolean isNew) {
    return switch (sense) {
      case WAITS -> false;
      case EARLY -> isNew;
      case NEVER -> true;
    };
  }

  /**
   * Translates a reason of squeue.
   *
   * @param reason squeue's word, possibly followed by nodes or a sentence
   */
  public static WaitReason of(String reason) {
    String word = reason.split("[ ,(]", 2)[0];
    return word.equals("ReqNodeNotAvail")
        ? notAvailable(reason)
        : RULES.stream()
            .filter(rule -> rule.word().matcher(word).matches())
            .findFirst()
            .map(rule -> rule.of(word))
            .orElseGet(() -> waits(ClusterText.clean(reason)));
  }

  private static WaitReason notAvailable(String reason) {
    String rest = reason.replaceFirst("^ReqNodeNotAvail,? *", "");
    if (rest.contains("maintenance") || rest.contains("reserved")) {
      return waits(
          "nodes are reserved from a time before its end, perhaps for maintenance; a shorter"
              + " --for may fit before that");
    }
    String nodes = rest.replaceFirst("^UnavailableNodes:", "");
    return waits(
        "nodes that it needs are down, drained or reserved"
            + (nodes.isEmpty() || nodes.equals(rest) ? "" : ": " + ClusterText.clean(nodes)));
  }

  private static WaitReason waits(String words) {
    return new WaitReason(words, Sense.WAITS);
  }
}
