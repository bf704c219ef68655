package dev.gpush.shell.text;

import dev.gpush.core.text.Clean;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Something that has happened to a session while nobody asked, for the interactive shell.
 *
 * @param key events of one key repeat each other; the newest counts
 * @param text one line
 * @param isSaid by the command that caused it, so a shell that has just run one says it no more
 * @param times how often; with names, how many there are
 * @param names the newest of what it has happened to; those of repeated events are put together
 */
public record ShellEvent(String key, String text, boolean isSaid, int times, List<String> names) {
  private static final String TAB = "\t";

  /** This many names are shown … */
  private static final int SHOWN = 3;

  /** … and this many are known, so that one that is repeated is not counted twice. */
  private static final int KNOWN = 100;

  public ShellEvent {
    key = Clean.line(key);
    text = Clean.line(text);
    names = names.stream().map(Clean::line).distinct().limit(KNOWN).toList();
  }

  public static ShellEvent of(String key, String text) {
    return new ShellEvent(key, text, false, 1, List.of());
  }

  public static ShellEvent ofCommand(String key, String text) {
    return new ShellEvent(key, text, true, 1, List.of());
  }

  /** This one, of a command of another shell. */
  public ShellEvent ofAnother() {
    return new ShellEvent(key, text, false, times, names);
  }

  /** This one, after an earlier one of its key, which counts when it said the same. */
  ShellEvent after(ShellEvent before) {
    int earlier = before.text.equals(text) ? before.times : 0;
    var all = new ArrayList<>(names);
    all.addAll(before.names);
    int again = (int) names.stream().filter(before.names::contains).count();
    return new ShellEvent(key, text, isSaid, earlier + times - again, all);
  }

  /** As it is shown. */
  public String shown() {
    if (names.isEmpty()) {
      return times > 1 ? text + " (" + times + " times)" : text;
    }
    List<String> some = names.subList(0, Math.min(SHOWN, names.size()));
    int more = times - some.size();
    return String.join(", ", some) + (more > 0 ? " and " + more + " more " : " ") + text;
  }

  /** For {@link #parse}. */
  public String line() {
    var parts =
        new ArrayList<>(List.of(key, Boolean.toString(isSaid), Integer.toString(times), text));
    parts.addAll(names);
    return String.join(TAB, parts);
  }

  /** Empty when it is none. */
  public static Optional<ShellEvent> parse(String line) {
    List<String> parts = List.of(line.split(TAB, -1));
    if (parts.size() < 4 || !parts.get(2).matches("[1-9][0-9]{0,8}")) {
      return Optional.empty();
    }
    boolean isSaid = Boolean.parseBoolean(parts.get(1));
    int times = Integer.parseInt(parts.get(2));
    List<String> names = parts.subList(4, parts.size());
    return Optional.of(new ShellEvent(parts.get(0), parts.get(3), isSaid, times, names));
  }
}
