package dev.gpush.shell.text;

import java.nio.charset.StandardCharsets;
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

  /** {@link #text} as UTF-8. */
  public byte[] bytes(Look look) {
    return text(look).getBytes(StandardCharsets.UTF_8);
  }

  /** The lines for standard error. */
  public String text(Look look) {
    var text =
        new StringBuilder(look.red("gpush:")).append(' ').append(Clean.line(what)).append('\n');
    String lead = "  because ";
    for (String line : because) {
      text.append(lead).append(Clean.line(line)).append('\n');
      lead = "    ";
    }
    return text.append("  try: ").append(Clean.line(remedy)).append('\n').toString();
  }
}
