package dev.gpush.control.place;

import dev.gpush.core.text.RawText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Arguments and variables of this process as bytes. A JVM decodes them first, and turns what is not
 * UTF-8 into U+FFFD; the system still has the bytes. They are read only if there is a U+FFFD, which
 * is rare; without {@code /proc} the JVM's words are used.
 */
public final class RawWords {
  private static final String LOST = "\ufffd";
  private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
  private static final Path ENVIRONMENT = Path.of("/proc/self/environ");

  private RawWords() {}

  /** The words after the main class, which are the last ones of the process. */
  public static List<String> arguments(String[] decoded) {
    List<String> words = List.of(decoded);
    if (words.stream().noneMatch(word -> word.contains(LOST))) {
      return words;
    }
    List<String> all = read(COMMAND_LINE);
    if (all.size() < words.size()) {
      return words;
    }
    List<String> raw = all.subList(all.size() - words.size(), all.size());
    return isSame(words, raw) ? List.copyOf(raw) : words;
  }

  /** Whether both are one command line, as far as the JVM could read it. */
  private static boolean isSame(List<String> decoded, List<String> raw) {
    for (int i = 0; i < raw.size(); i++) {
      String word = decoded.get(i);
      if (!word.contains(LOST) && !word.equals(raw.get(i))) {
        return false;
      }
    }
    return true;
  }

  static Map<String, String> environment(Map<String, String> decoded) {
    var variables = new HashMap<>(decoded);
    boolean isWhole =
        !variables
            .entrySet()
            .removeIf(one -> one.getKey().contains(LOST) || one.getValue().contains(LOST));
    if (isWhole) {
      return decoded;
    }
    List<String> raw = read(ENVIRONMENT);
    if (raw.isEmpty()) {
      return decoded;
    }
    for (String one : raw) {
      int at = one.indexOf('=', 1);
      if (at > 0) {
        variables.putIfAbsent(one.substring(0, at), one.substring(at + 1));
      }
    }
    return variables;
  }

  /** Words, each with a NUL behind it; none if the system does not provide them. */
  private static List<String> read(Path file) {
    var words = new ArrayList<String>();
    try {
      byte[] bytes = Files.readAllBytes(file);
      int start = 0;
      for (int at = 0; at < bytes.length; at++) {
        if (bytes[at] == 0) {
          words.add(RawText.decode(bytes, start, at - start));
          start = at + 1;
        }
      }
    } catch (IOException unknown) {
      words.clear();
    }
    return words;
  }
}
