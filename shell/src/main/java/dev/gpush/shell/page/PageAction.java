package dev.gpush.shell.page;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.session.SessionName;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What the page asks the gateway to do; all that it can do is here.
 *
 * @param words the command line
 * @param agreed the questions that the user has answered with yes
 */
record PageAction(List<String> words, Set<String> agreed) {
  private static final Pattern TIME = Pattern.compile("[0-9]{1,4}[mhd]");

  PageAction {
    words = List.copyOf(words);
    agreed = Set.copyOf(agreed);
  }

  /** Empty if the text is none. */
  static Optional<PageAction> parse(String text) {
    try {
      Json json = Json.parse(text);
      String session = SessionName.parse(json.text("session").orElse("")).text();
      return words(json, session)
          .map(words -> new PageAction(words, new HashSet<>(json.texts("agreed"))));
    } catch (GpushException | JsonSyntaxException malformed) {
      return Optional.empty();
    }
  }

  private static Optional<List<String>> words(Json json, String session) {
    Optional<String> time = json.text("for").filter(each -> TIME.matcher(each).matches());
    Optional<Integer> run = json.integer("run").filter(each -> each > 0);
    return switch (json.text("do").orElse("")) {
      case "down" -> Optional.of(List.of("down", session));
      case "extend" ->
          Optional.of(
              time.map(each -> List.of("extend", "-s", session, "--for", each))
                  .orElse(List.of("extend", "-s", session)));
      case "stop" -> run.map(number -> List.of("stop", number.toString(), "-s", session));
      default -> Optional.empty();
    };
  }
}
