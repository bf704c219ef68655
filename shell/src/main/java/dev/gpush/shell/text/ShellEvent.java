package dev.gpush.shell.text;

import dev.gpush.core.text.Clean;
import java.util.List;
import java.util.Optional;

/**
 * Something that has happened to a session while nobody asked, for the interactive shell.
 *
 * @param key events of one key repeat each other; the newest counts
 * @param text one line
 * @param isSaid by the command that caused it, so a shell that has just run one says it no more
 * @param times how often
 */
public record ShellEvent(String key, String text, boolean isSaid, int times) {
  private static final String TAB = "\t";

  public ShellEvent {
    key = Clean.line(key);
    text = Clean.line(text);
  }

  public static ShellEvent of(String key, String text) {
    return new ShellEvent(key, text, false, 1);
  }

  public static ShellEvent ofCommand(String key, String text) {
    return new ShellEvent(key, text, true, 1);
  }

  /** This one, after an earlier one of its key, which counts when it said the same. */
  ShellEvent after(ShellEvent before) {
    return new ShellEvent(key, text, isSaid, (before.text.equals(text) ? before.times : 0) + times);
  }

  /** As it is shown. */
  public String shown() {
    return times > 1 ? text + " (" + times + " times)" : text;
  }

  /** For {@link #parse}. */
  public String line() {
    return String.join(TAB, key, Boolean.toString(isSaid), Integer.toString(times), text);
  }

  /** Empty when it is none. */
  public static Optional<ShellEvent> parse(String line) {
    List<String> parts = List.of(line.split(TAB, 4));
    if (parts.size() < 4 || !parts.get(2).matches("[1-9][0-9]{0,8}")) {
      return Optional.empty();
    }
    boolean isSaid = Boolean.parseBoolean(parts.get(1));
    int times = Integer.parseInt(parts.get(2));
    return Optional.of(new ShellEvent(parts.get(0), parts.get(3), isSaid, times));
  }
}
