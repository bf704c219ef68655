package dev.gpush.shell.render;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Words as a shell reads and writes them. */
public final class ShellWords {
  private static final Pattern SAFE = Pattern.compile("[A-Za-z0-9_@%+=:,./~^-]+");

  private ShellWords() {}

  /** One line that a POSIX shell splits into exactly these words. */
  public static String join(List<String> words) {
    return words.stream().map(ShellWords::quote).collect(Collectors.joining(" "));
  }

  public static String quote(String word) {
    boolean tilde = word.startsWith("~");
    return SAFE.matcher(word).matches() && !tilde ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /**
   * Splits a line at spaces, with single quotes, double quotes and backslashes as in a shell;
   * nothing is expanded. Empty when a quote or the line is not finished.
   */
  public static Optional<List<String>> split(String line) {
    var words = new ArrayList<String>();
    var word = new StringBuilder();
    boolean inWord = false;
    char quote = 0;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quote == '\'') {
        if (c == '\'') {
          quote = 0;
        } else {
          word.append(c);
        }
      } else if (c == '\\') {
        if (++i == line.length()) {
          return Optional.empty();
        }
        char next = line.charAt(i);
        if (quote == '"' && "\"\\$`\n".indexOf(next) < 0) {
          word.append(c);
        }
        if (next != '\n') {
          word.append(next);
          inWord = true;
        }
      } else if (quote == '"') {
        if (c == '"') {
          quote = 0;
        } else {
          word.append(c);
        }
      } else if (c == '\'' || c == '"') {
        quote = c;
        inWord = true;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        if (inWord) {
          words.add(word.toString());
          word.setLength(0);
          inWord = false;
        }
      } else if (c == '#' && !inWord) {
        while (i + 1 < line.length() && line.charAt(i + 1) != '\n') {
          i++;
        }
      } else {
        word.append(c);
        inWord = true;
      }
    }
    if (quote != 0) {
      return Optional.empty();
    }
    if (inWord) {
      words.add(word.toString());
    }
    return Optional.of(List.copyOf(words));
  }
}
