package dev.gpush.launch.node;

import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.util.Optional;

/**
 * The answer of a program that gpush runs on a node: the last line that begins with a mark, as the
 * start-up of the user's Python may print others before.
 *
 * @param problem why there is none, in a few words
 */
public record MarkedLine(Json json, Optional<String> problem) {
  public static MarkedLine of(String output, String mark) {
    String begin = "\n" + mark + " ";
    int at = ("\n" + output).lastIndexOf(begin);
    if (at < 0) {
      return without("the Python printed no answer");
    }
    try {
      String line = ("\n" + output).substring(at + begin.length()).strip();
      return new MarkedLine(Json.parse(line), Optional.empty());
    } catch (JsonSyntaxException cut) {
      return without("the answer of the Python was cut off");
    }
  }

  private static MarkedLine without(String problem) {
    return new MarkedLine(Json.object(), Optional.of(problem));
  }
}
