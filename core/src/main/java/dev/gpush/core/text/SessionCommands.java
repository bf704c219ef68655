package dev.gpush.core.text;

import java.util.List;
import java.util.Optional;

/**
 * Commands as the user can paste them.
 *
 * @param session that the user has named on the command line, so that another one is not meant
 */
public record SessionCommands(Optional<String> session) {
  /**
   * @param words after {@code gpush}, the verb first
   */
  public String of(String words) {
    String[] parts = words.split(" ", 2);
    return "gpush "
        + parts[0]
        + session.map(name -> " -s " + Clean.word(name)).orElse("")
        + (parts.length == 1 ? "" : " " + parts[1]);
  }

  /** The same of single words, which may need quotes. */
  public String of(List<String> words) {
    return of(Clean.command(words));
  }

  /** A remedy that may be a command; others stay as they are. */
  public String named(String remedy) {
    return remedy.startsWith("gpush ") ? of(remedy.substring("gpush ".length())) : remedy;
  }
}
