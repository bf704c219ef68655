package dev.gpush.sync.git;

/**
 * One line of an ignore file that decided about a path.
 *
 * @param source the file's name for messages
 * @param line from 1; 0 for names that gpush itself leaves out
 * @param includes the pattern began with "!"
 */
public record IgnoreRule(String source, int line, String pattern, boolean includes) {
  static IgnoreRule builtIn(String name) {
    return new IgnoreRule("gpush", 0, name, false);
  }

  /** {@code data/ (.gitignore:3)}. */
  public String text() {
    return pattern + " (" + (line == 0 ? "never sent" : source + ":" + line) + ")";
  }
}
