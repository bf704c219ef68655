package dev.gpush.core.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Words as they stand in an ssh_config, written and read. */
public final class SshConfigWords {
  /** No quotes help with these: there is no escape inside of them, and ssh expands variables. */
  private static final List<String> IMPOSSIBLE = List.of("\"", "\\", "${", "\n", "\r");

  /**
   * A shell's words for one single quote. The usual ones need a backslash or double quotes, and
   * what ssh makes of these inside its own double quotes changed with its versions.
   */
  private static final String SINGLE_QUOTE = "$(awk -v f=%%c 'BEGIN{printf(f,39)}')";

  private SshConfigWords() {}

  /** What the text has that no word can hold. */
  public static Optional<String> impossible(String text) {
    return IMPOSSIBLE.stream().filter(text::contains).findFirst();
  }

  /**
   * A value in which ssh replaces tokens such as %h.
   *
   * @throws IllegalArgumentException for what no word can hold
   */
  public static String quote(String text) {
    return "\"" + escaped(text) + "\"";
  }

  /**
   * One word of a command for sh that itself stands in double quotes, as in {@code Match exec}.
   *
   * @throws IllegalArgumentException for what no word can hold
   */
  public static String quoteInCommand(String text) {
    return "'" + escaped(text).replace("'", "'" + SINGLE_QUOTE + "'") + "'";
  }

  /**
   * One word of a {@code ProxyCommand}, which is the rest of its line, for a shell; quotation marks
   * mean nothing to ssh there.
   */
  public static String quoteInProxyCommand(String text) {
    return "'" + escaped(text).replace("'", "'\\''") + "'";
  }

  private static String escaped(String text) {
    impossible(text)
        .ifPresent(
            part -> {
              throw new IllegalArgumentException("no word of an ssh_config can hold " + part);
            });
    return text.replace("%", "%%");
  }

  /**
   * The words of a line: {@code Keyword value}, {@code Keyword=value}, quotes, comments. Tokens are
   * left as they are.
   */
  public static List<String> split(String line) {
    var words = new ArrayList<String>();
    var word = new StringBuilder();
    boolean isQuoted = false;
    boolean isWord = false;
    boolean isKeyword = true;
    String text = line.strip();
    for (int at = 0; at < text.length(); at++) {
      char letter = text.charAt(at);
      if (letter == '"') {
        isQuoted = !isQuoted;
        isWord = true;
      } else if (!isQuoted && letter == '#' && !isWord) {
        break;
      } else if (!isQuoted && (Character.isWhitespace(letter) || (isKeyword && letter == '='))) {
        if (isWord) {
          words.add(word.toString());
          word.setLength(0);
        }
        // Between the keyword and its value one equals sign may stand.
        isKeyword = isKeyword && letter != '=' && words.size() < 2;
        isWord = false;
      } else {
        isKeyword = isKeyword && words.isEmpty();
        isWord = true;
        word.append(letter);
      }
    }
    if (isWord) {
      words.add(word.toString());
    }
    return words;
  }
}
