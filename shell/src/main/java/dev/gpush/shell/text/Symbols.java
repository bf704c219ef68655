package dev.gpush.shell.text;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Symbols such as ✓ and ↑, and words for terminals and readers that have none. */
public final class Symbols {
  /** The first that is set decides, as in C. */
  private static final String[] LOCALE = {"LC_ALL", "LC_CTYPE", "LANG"};

  private Symbols() {}

  /** Whether the user's terminal shows them: its locale has UTF-8, and GPUSH_PLAIN is not set. */
  public static boolean areShown(Map<String, String> environment) {
    String locale =
        Stream.of(LOCALE)
            .map(name -> environment.getOrDefault(name, ""))
            .filter(value -> !value.isEmpty())
            .findFirst()
            .orElse("")
            .toLowerCase(Locale.ROOT);
    boolean isUtf8 = locale.contains("utf-8") || locale.contains("utf8");
    return isUtf8 && !Look.isPlain(environment);
  }

  /** The text with words and ASCII in their place. */
  public static String inWords(String text) {
    return text.replace("✓", "synced ")
        .replaceAll("↑(\\d+)", "$1 outgoing")
        .replace("↓", "incoming")
        .replace(" · ", " - ")
        .replace('×', 'x')
        .replace('≈', '~')
        .replace("…", "...");
  }
}
