package dev.gpush.shell.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What may follow a command's name. A shell gets it as one line without control characters.
 *
 * @param verb the name; empty: what may come before the name of each command
 * @param endsAtWord its options end at the first word that is none
 * @param options what each of them takes, by its name
 * @param labels what the words mean, as in the help
 */
public record VerbWords(
    String verb, boolean endsAtWord, Map<String, Value> options, List<String> labels) {
  /** The label of a session that need not exist yet. */
  public static final String NEW_NAME = "NEW";

  private static final String ENDS = "*";

  public VerbWords {
    options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
    labels = List.copyOf(labels);
  }

  /**
   * What an option takes.
   *
   * @param count how many words; 0: none
   * @param label what they mean, as in the help
   */
  public record Value(int count, String label) {
    public static final Value NONE = new Value(0, "");
  }

  public String line() {
    var parts = new ArrayList<String>();
    parts.add(verb + (endsAtWord ? ENDS : ""));
    options.forEach(
        (name, value) ->
            parts.add(value.count() == 0 ? name : name + "=" + value.count() + value.label()));
    parts.addAll(labels);
    return String.join(" ", parts);
  }

  /** What {@link #line} has written; empty: it is of another gpush. */
  public static Optional<VerbWords> parse(String line) {
    String[] parts = line.split(" ", -1);
    boolean endsAtWord = parts[0].endsWith(ENDS);
    var options = new LinkedHashMap<String, Value>();
    var labels = new ArrayList<String>();
    for (int at = 1; at < parts.length; at++) {
      String[] option = parts[at].split("=", 2);
      if (!parts[at].startsWith("-")) {
        labels.add(parts[at]);
      } else if (option.length == 1) {
        options.put(parts[at], Value.NONE);
      } else if (option[1].isEmpty() || !Character.isDigit(option[1].charAt(0))) {
        return Optional.empty();
      } else {
        int count = Character.digit(option[1].charAt(0), 10);
        options.put(option[0], new Value(count, option[1].substring(1)));
      }
    }
    String verb = endsAtWord ? parts[0].substring(0, parts[0].length() - 1) : parts[0];
    return Optional.of(new VerbWords(verb, endsAtWord, options, labels));
  }
}
