package dev.gpush.backends.transport;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Arguments as the one line that sshd hands to the login shell, whichever that is.
 *
 * <p>Single quotes mean the same to POSIX shells, fish and csh as long as there is no quote,
 * backslash, exclamation mark or line end between them; so these, and everything that is not plain
 * ASCII, travel as {@code \0ooo}, which no shell touches and {@code printf %b} undoes. A small
 * {@code sh} does that and becomes the command. Quoting after the login shell's own rules was
 * considered: it would have to be known first, which costs a round trip.
 */
public final class CommandText {
  /** Says the marker on both streams; then the rest is the command, to be taken as it is. */
  private static final String PLAIN = "echo $1; echo $1 >&2; shift; exec \"$@\"";

  /** The same for arguments of which some were written with printf's signs. */
  private static final String CODED =
      "echo $1; echo $1 >&2; shift; "
          + "for a do shift; a=$(printf %b. \"$a\"); set -- \"$@\" \"${a%.}\"; done; exec \"$@\"";

  private CommandText() {}

  /**
   * The line.
   *
   * @param marker hex digits, which come out of both streams, on a line of their own, before
   *     anything of the command does
   */
  public static String of(String marker, List<String> arguments) {
    if (arguments.isEmpty() || arguments.stream().anyMatch(word -> word.indexOf('\0') >= 0)) {
      throw new IllegalArgumentException("a command has words, and words have no zero byte");
    }
    boolean isPlain = arguments.stream().allMatch(CommandText::isPlain);
    var line = new StringBuilder("sh -c '").append(isPlain ? PLAIN : CODED).append("' sh ");
    line.append(marker);
    for (String word : arguments) {
      line.append(" '").append(isPlain ? word : coded(word)).append('\'');
    }
    return line.toString();
  }

  private static boolean isPlain(String word) {
    return word.chars().allMatch(CommandText::isPlain);
  }

  private static boolean isPlain(int letter) {
    return letter >= ' ' && letter <= '~' && letter != '\'' && letter != '\\' && letter != '!';
  }

  private static String coded(String word) {
    var text = new StringBuilder();
    for (byte letter : word.getBytes(StandardCharsets.UTF_8)) {
      if (isPlain(letter)) {
        text.append((char) letter);
      } else {
        text.append("\\0").append(Integer.toOctalString(0x200 | (letter & 0xff)).substring(1));
      }
    }
    return text.toString();
  }
}
