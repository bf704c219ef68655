package dev.gpush.backends.slurm.cluster;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One line of {@code scontrol show … -o}: {@code Key=Value} pairs separated by spaces, where a
 * value may itself hold spaces and equals signs. So the line is not split, but searched for a key.
 */
record Scontrol(String line) {
  static List<Scontrol> lines(String text, String firstKey) {
    return text.lines()
        .map(String::strip)
        .filter(line -> line.startsWith(firstKey + "="))
        .map(Scontrol::new)
        .toList();
  }

  /** A value without spaces; empty if Slurm has no value. */
  Optional<String> word(String key) {
    return find(key)
        .map(from -> line.substring(from).split("\\s", 2)[0])
        .filter(value -> !isNothing(value));
  }

  int number(String key) {
    return word(key).filter(value -> value.matches("[0-9]{1,9}")).map(Integer::parseInt).orElse(0);
  }

  private Optional<Integer> find(String key) {
    Matcher found = Pattern.compile("(?:^|\\s)" + Pattern.quote(key) + "=").matcher(line);
    return found.find() ? Optional.of(found.end()) : Optional.empty();
  }

  private static boolean isNothing(String value) {
    return value.isEmpty() || value.equals("(null)") || value.equals("N/A");
  }
}
