package dev.gpush.core.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The command line that failed, from which remedies are made.
 *
 * @param words verb first; empty if nothing was typed
 */
public record TypedCommand(List<String> words) {
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

  /**
   * The words for a shell. Only the first one if another shell could make something else of the
   * rest: whether that was quoted, or has a tilde of this machine, is not known here.
   */
  public String forShell() {
    String line = String.join(" ", words);
    boolean isSame =
        ShellQuote.join(words).equals(line)
            && tail().stream().noneMatch(each -> each.startsWith("/"));
    return isSame ? line : ShellQuote.of(words.getFirst()) + " …";
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

  /**
   * The command line with other values of these options.
   *
   * @param options each with its value in the next word
   */
  public String instead(List<String> options) {
    List<String> names = options.stream().filter(each -> each.startsWith("-")).toList();
    var line = new ArrayList<String>();
    for (int at = 0; at < tail().size(); at++) {
      String word = tail().get(at);
      if (names.contains(word)) {
        at++;
      } else if (!names.contains(word.replaceFirst("=.*", ""))) {
        line.add(word);
      }
    }
    line.addAll(0, options);
    return command(words.getFirst(), line);
  }

  /** The command line with one word corrected; empty if that word was not typed. */
  public Optional<String> replaced(String wrong, String right) {
    if (!words.contains(wrong)) {
      return Optional.empty();
    }
    var line = new ArrayList<>(words);
    line.set(line.indexOf(wrong), right);
    return Optional.of(command(line.getFirst(), line.subList(1, line.size())));
  }

  public static String command(String verb, List<String> rest) {
    var line = new ArrayList<>(List.of("gpush", verb));
    line.addAll(rest);
    return Clean.command(line);
  }
}
