package dev.gpush.core.session;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The gateway that holds a gang, as agents and the tags of backends carry it: {@code
 * ann@laptop:/home/ann/.gpush#0a1b2c3d4e5f.5f4e3d2c1b0a}. The part before the {@code #} is for
 * people and does not change during the session, even if the host is renamed. The part after it is
 * the machine and the home. The text may come from another machine, so it may be anything.
 */
public record Holder(String text) {
  private static final Pattern SHAPE =
      Pattern.compile("(?<words>.*)#(?<machine>[0-9a-f]{12})\\.(?<home>[0-9a-f]{12})");

  /** Agents keep 256 characters, and compare all that they keep. */
  private static final int MOST_WORDS = 200;

  /**
   * A holder with an id.
   *
   * @param words for people
   * @param machine twelve hex digits, the same for all homes of a machine
   * @param home twelve hex digits that no other home has
   */
  public static Holder of(String words, String machine, String home) {
    String some = words.length() <= MOST_WORDS ? words : words.substring(0, MOST_WORDS);
    return new Holder(some + "#" + machine + "." + home);
  }

  /** For people: without the id. */
  public String words() {
    return group("words").orElse(text);
  }

  /** Twelve hex digits; empty in what gpush did not write. */
  public Optional<String> machine() {
    return group("machine");
  }

  /** Machine and home; empty in what gpush did not write. */
  public Optional<String> id() {
    return machine().flatMap(machine -> group("home").map(home -> machine + "." + home));
  }

  private Optional<String> group(String name) {
    Matcher matcher = SHAPE.matcher(text);
    return matcher.matches() ? Optional.ofNullable(matcher.group(name)) : Optional.empty();
  }

  /** Whether both are the same home, whatever the name of its host was. */
  public boolean isSame(Holder other) {
    return id().isPresent() ? id().equals(other.id()) : text.equals(other.text);
  }

  @Override
  public String toString() {
    return text;
  }
}
