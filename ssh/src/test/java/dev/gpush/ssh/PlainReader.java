package dev.gpush.ssh;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * How the npm package ssh-config (5.2.0, asked by hand; open-remote-ssh 0.3 uses it) computes the
 * values of a host: sections by Host and Match, the first value of a keyword counts, letters are
 * told apart, and {@code none} is a word as any other. Criteria of Match come in pairs, but for
 * {@code all}, {@code canonical} and {@code final}; one that is not known does not match. {@code
 * exec} is true.
 */
public final class PlainReader {
  private static final List<String> ALONE = List.of("all", "canonical", "final");

  private PlainReader() {}

  public static Map<String, String> compute(String config, String host) {
    var values = new LinkedHashMap<String, String>();
    boolean applies = true;
    for (String line : config.lines().map(String::strip).toList()) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String[] parts = line.split("\\s+", 2);
      if (parts[0].equalsIgnoreCase("Match")) {
        applies = matches(words(parts[1]), host, values);
        continue;
      }
      if (parts[0].equalsIgnoreCase("Host")) {
        applies = isAny(words(parts[1]), host);
      }
      if (applies) {
        values.putIfAbsent(parts[0], parts[1]);
      }
    }
    return values;
  }

  private static List<String> words(String text) {
    var words = new ArrayList<String>();
    var word = Pattern.compile("\"([^\"]*)\"|(\\S+)").matcher(text);
    while (word.find()) {
      words.add(word.group().replace("\"", ""));
    }
    return words;
  }

  private static boolean matches(List<String> criteria, String host, Map<String, String> values) {
    boolean all = true;
    for (int at = 0; at < criteria.size(); at++) {
      String keyword = criteria.get(at);
      if (ALONE.contains(keyword)) {
        all &= keyword.equals("all");
        continue;
      }
      at++;
      if (at == criteria.size()) {
        throw new IllegalArgumentException("Missing value for match criteria " + keyword);
      }
      List<String> patterns = List.of(criteria.get(at).split(",", -1));
      all &=
          switch (keyword) {
            case "exec" -> true;
            case "host" -> isAny(patterns, values.getOrDefault("HostName", host));
            case "originalhost" -> isAny(patterns, host);
            default -> false;
          };
    }
    return all;
  }

  private static boolean isAny(List<String> patterns, String host) {
    return patterns.stream()
        .anyMatch(pattern -> host.matches(pattern.replace(".", "\\.").replace("*", ".*")));
  }
}
