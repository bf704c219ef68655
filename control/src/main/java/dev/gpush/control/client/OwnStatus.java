package dev.gpush.control.client;

import java.util.List;
import java.util.Set;

/**
 * The exit status for a failure of gpush's own. Commands that give the status of what they run have
 * one number for all of them, as ssh has, so that it differs from theirs.
 */
final class OwnStatus {
  private static final Set<String> PASSING_ON = Set.of("run", "exec", "ssh", "logs");

  private OwnStatus() {}

  static int of(List<String> arguments, ClientException failure) {
    boolean isOwn = failure.status() != ControlClient.INTERRUPTED && passesStatusOn(arguments);
    return isOwn ? ControlClient.OWN : failure.status();
  }

  private static boolean passesStatusOn(List<String> arguments) {
    for (int i = 0; i < arguments.size(); i++) {
      String word = arguments.get(i);
      if (word.equals("-s") || word.equals("--session")) {
        i++;
      } else if (!word.startsWith("-")) {
        return PASSING_ON.contains(word);
      }
    }
    return false;
  }
}
