package dev.gpush.shell.loop;

import dev.gpush.shell.text.VerbWords;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a shell knows of the words that a line may have, without asking the gateway.
 *
 * @param verbs by their names, as far as the gateway has sent them
 * @param sizes how many nodes each session has; 0: none yet
 * @param session the one that the prompt is about
 */
record KnownWords(
    Map<String, VerbWords> verbs, Map<String, Integer> sizes, Optional<String> session) {
  /** The words of a line without a command, which are sent after those of all commands. */
  static final String LAST = "";

  static final KnownWords NONE = new KnownWords(Map.of(), Map.of(), Optional.empty());

  KnownWords {
    verbs = Map.copyOf(verbs);
    sizes = Map.copyOf(sizes);
  }

  KnownWords with(VerbWords verb) {
    var all = new HashMap<>(verbs);
    all.put(verb.verb(), verb);
    return new KnownWords(all, sizes, session);
  }

  /**
   * With these sessions instead.
   *
   * @param text the name of the prompt's session, or nothing, then each name with its size
   */
  KnownWords withSessions(String text) {
    String[] parts = text.split(" ", -1);
    var all = new HashMap<String, Integer>();
    for (String part : List.of(parts).subList(1, parts.length)) {
      String[] pair = part.split("=", 2);
      boolean isSize = pair.length == 2 && pair[1].matches("[0-9]{1,9}");
      all.put(pair[0], isSize ? Integer.parseInt(pair[1]) : 0);
    }
    return new KnownWords(verbs, all, Optional.of(parts[0]).filter(name -> !name.isEmpty()));
  }
}
