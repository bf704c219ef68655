package dev.gpush.core.text;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Makes text from elsewhere safe to show: no control characters, no secrets, no more than a line's
 * worth. Never used on the output of runs and commands, which is the user's own.
 */
public final class Clean {
  /** Longer text is of no use in a message. */
  private static final int LONGEST = 500;

  private static final String NAME =
      "[a-z0-9_-]*(?:token|secret|passwd|password|api[_-]?key|access[_-]?key)";

  /** Not the last part of a path, after which a failure says its reason: {@code data/secret: …}. */
  private static final Pattern NAMED_SECRET =
      Pattern.compile(
          "(?i)((?<![a-z0-9_-])NAME\"?\\s*=\\s*|(?<![/a-z0-9_-])(?<!/[.])NAME\"?\\s*:\\s*|(?<![^\\s'])--NAME\\s+)\\S+"
              .replace("NAME", NAME));

  private static final Pattern OPTION = Pattern.compile("(?i)--" + NAME);

  private static final Pattern KNOWN_SECRET =
      Pattern.compile(
          "\\b(?:hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|sk-[A-Za-z0-9_-]{20,})|(?i)bearer\\s+\\S+");

  private Clean() {}

  public static String line(String text) {
    String capped = text.length() > 4 * LONGEST ? text.substring(0, 4 * LONGEST) : text;
    String masked = masked(CleanText.line(capped));
    return masked.length() > LONGEST ? masked.substring(0, LONGEST - 1) + "…" : masked;
  }

  /** The whole text without secrets, for programs. */
  public static String masked(String text) {
    String masked = NAMED_SECRET.matcher(text).replaceAll("$1***");
    return KNOWN_SECRET.matcher(masked).replaceAll("***");
  }

  /** The words of a command without secrets; also without those that follow their option. */
  public static List<String> masked(List<String> words) {
    var masked = new ArrayList<String>();
    String before = "";
    for (String word : words) {
      masked.add(OPTION.matcher(before).matches() ? "***" : masked(word));
      before = word;
    }
    return masked;
  }

  /** One word of a command that the user may type. */
  public static String word(String text) {
    return ShellQuote.of(line(text));
  }

  /** A command that the user may type. */
  public static String command(List<String> words) {
    return ShellQuote.join(masked(words).stream().map(Clean::line).toList());
  }
}
