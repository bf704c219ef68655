package dev.gpush.shell.command;

import dev.gpush.core.failure.GpushException;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.command.place.GatewayCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The commands of gpush that a sentence names can be typed as they are written. */
public final class SuggestedCommands {
  /** After a command, the sentence goes on with one of these. */
  private static final Set<String> PROSE =
      Set.of("asks", "frees", "keeps", "moves", "names", "says", "sends", "takes", "tries");

  private static final Set<String> OF_A_SESSION =
      Set.of(
          "up", "run", "exec", "nodes", "check", "logs", "runs", "stop", "down", "extend", "sync",
          "pull", "forward");

  private static final Pattern COMMAND = Pattern.compile("\\bgpush ([a-z]+)((?: [^\\s,;()]+)*)");

  private SuggestedCommands() {}

  /**
   * @return the names of sessions that the commands have, for those that are about a session
   * @throws AssertionError if one cannot be parsed
   */
  public static List<Optional<String>> check(String text) {
    var verbs = new Verbs();
    var sessions = new ArrayList<Optional<String>>();
    for (Matcher found = COMMAND.matcher(text); found.find(); ) {
      String verb = found.group(1);
      Optional<Action> action = verbs.names().contains(verb) ? verbs.make(verb) : Optional.empty();
      if (action.isPresent()) {
        sessions.addAll(parse(verb, action.get(), words(found.group(2)), text));
      }
    }
    return sessions;
  }

  private static List<String> words(String rest) {
    var words = new ArrayList<String>();
    for (String word : rest.strip().split(" ", -1)) {
      if (word.isEmpty() || PROSE.contains(word)) {
        break;
      }
      words.add(word);
    }
    return words;
  }

  private static List<Optional<String>> parse(
      String verb, Action action, List<String> words, String text) {
    var common = new Common();
    try {
      CommandLines.parse(verb, action, common, words);
    } catch (GpushException wrong) {
      throw new AssertionError("'gpush " + verb + "' of: " + text, wrong);
    }
    if (action instanceof GatewayCommand && !GatewayCommand.ACTIONS.containsAll(words)) {
      throw new AssertionError("'gpush gateway' has no such action: " + text);
    }
    return OF_A_SESSION.contains(verb) ? List.of(common.session) : List.of();
  }
}
