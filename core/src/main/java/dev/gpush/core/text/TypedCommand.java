package dev.gpush.core.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The command line that failed, from which remedies are made.
 *
 * @param words verb first; empty if nothing was typed
 */
public record TypedCommand(List<String> words) {
  /** A word with one of these was quoted when it was typed. */
  private static final Pattern SPLIT = Pattern.compile("[\\s'\"\\\\]|^$");

  public TypedCommand {
    words = List.copyOf(words);
  }

  public Optional<String> verb() {
    return words.stream().findFirst();
  }

  public List<String> tail() {
    return words.isEmpty() ? List.of() : words.subList(1, words.size());
  }

  public String again() {
    return words.isEmpty() ? "gpush ps" : command(words.getFirst(), tail());
  }

  /** For a shell that expands it: only what must be is quoted. */
  public String unquoted() {
    return words.stream()
        .map(word -> SPLIT.matcher(word).find() ? ShellQuote.of(word) : word)
        .collect(Collectors.joining(" "));
  }

  /** The command line with more options after the verb. */
  public String with(String... options) {
    if (words.isEmpty()) {
      return "gpush help";
    }
    var line = new ArrayList<>(List.of(options));
    line.addAll(tail());
    return command(words.getFirst(), line);
  }

  /** The command line with one word corrected. */
  public String replaced(String wrong, String right) {
    if (!words.contains(wrong)) {
      return words.isEmpty() ? "gpush ps" : with("-s", right);
    }
    var line = new ArrayList<>(words);
    line.set(line.indexOf(wrong), right);
    return command(line.getFirst(), line.subList(1, line.size()));
  }

  public static String command(String verb, List<String> rest) {
    var line = new ArrayList<>(List.of("gpush", verb));
    line.addAll(rest);
    return Clean.command(line);
  }
}
