package dev.gpush.core.failure;

import dev.gpush.core.text.Clean;
import java.util.List;

/**
 * The message of a failure: what failed, because, and a command to try.
 *
 * @param because at least one line; more than one when several things are wrong
 */
public record Message(String what, List<String> because, String remedy) {
  /** For remote failures that came without a reason. */
  private static final String UNKNOWN = "no reason was given";

  public Message {
    because =
        because.isEmpty()
            ? List.of(UNKNOWN)
            : because.stream().map(line -> line.isBlank() ? UNKNOWN : line).toList();
  }

  public static Message of(String what, String because, String remedy) {
    return new Message(what, List.of(because), remedy);
  }

  /** The lines for standard error. */
  public String text() {
    var text = new StringBuilder("gpush: ").append(Clean.line(what)).append('\n');
    String lead = "  because ";
    for (String line : because) {
      text.append(lead).append(Clean.line(line)).append('\n');
      lead = "    ";
    }
    return text.append("  try: ").append(Clean.line(remedy)).append('\n').toString();
  }

  /** One line, as it fits into the refusal of an ssh channel. */
  public String line() {
    return Clean.line(what + ", because " + String.join("; ", because) + "; try: " + remedy);
  }
}
