package dev.gpush.shell.text;

import dev.gpush.core.failure.Message;
import dev.gpush.core.text.Clean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the client's terminal can show.
 *
 * @param progress standard error is a terminal that can rewrite its line
 * @param colour colour may be used there
 * @param columns the width of the terminal on standard output; 0: it is not a terminal, or its
 *     width is unknown
 * @param errorColumns the same of standard error
 */
public record Look(boolean progress, boolean colour, int columns, int errorColumns) {
  private static final String NAME = "gpush:";

  /** Files and pipes. */
  public static Look plain() {
    return new Look(false, false, 0, 0);
  }

  /** Whether the user asks that nothing that was written is written over: for screen readers. */
  public static boolean isPlain(Map<String, String> environment) {
    return !environment.getOrDefault("GPUSH_PLAIN", "").isEmpty();
  }

  /** As {@link #text(Message)}. */
  public byte[] bytes(Message message) {
    return text(message).getBytes(StandardCharsets.UTF_8);
  }

  /** The lines of a message, as they are written to standard error. */
  public String text(Message message) {
    var lines = new ArrayList<>(failed(message.what()));
    String lead = "  because ";
    for (String line : message.because()) {
      lines.addAll(Prose.lines(lead, "      ", Clean.line(line), errorColumns));
      lead = "    ";
    }
    lines.add("  try: " + Clean.line(message.remedy())); // whole, to be copied
    return String.join("\n", lines) + "\n";
  }

  /** The first lines of a failure. */
  List<String> failed(String what) {
    var lines = new ArrayList<>(Prose.lines(NAME + " ", Clean.line(what), errorColumns));
    lines.set(0, red(NAME) + lines.getFirst().substring(NAME.length()));
    return lines;
  }

  /** Text in red, for failures. */
  public String red(String text) {
    return paint("31", text);
  }

  /** Dim text, for details. */
  public String dim(String text) {
    return paint("2", text);
  }

  private String paint(String code, String text) {
    return colour ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }
}
