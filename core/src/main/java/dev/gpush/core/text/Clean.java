package dev.gpush.core.text;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Makes text from elsewhere safe to show: no control characters, no secrets, no more than a line's
 * worth. Never used on the output of runs and commands, which is the user's own.
 */
public final class Clean {
  /** Longer text is of no use in a message. */
  private static final int LONGEST = 500;

  private static final Pattern NAMED_SECRET =
      Pattern.compile(
          "(?i)\\b([a-z0-9_-]*(?:token|secret|passwd|password|api[_-]?key|access[_-]?key))(\\s*[=:]\\s*)\\S+");

  private static final Pattern KNOWN_SECRET =
      Pattern.compile(
          "\\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|sk-[A-Za-z0-9_-]{20,})|(?i)bearer\\s+\\S+");

  private Clean() {}

  public static String line(String text) {
    String capped = text.length() > 4 * LONGEST ? text.substring(0, 4 * LONGEST) : text;
    String plain = CleanText.line(capped);
    String masked = NAMED_SECRET.matcher(plain).replaceAll("$1$2***");
    masked = KNOWN_SECRET.matcher(masked).replaceAll("***");
    return masked.length() > LONGEST ? masked.substring(0, LONGEST - 1) + "…" : masked;
  }

  /** One word of a command that the user may type. */
  public static String word(String text) {
    return ShellQuote.of(line(text));
  }

  /** A command that the user may type. */
  public static String command(List<String> words) {
    return ShellQuote.join(words.stream().map(Clean::line).toList());
  }
}
