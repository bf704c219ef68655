package dev.gpush.shell.text;

import dev.gpush.core.failure.Message;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What the client's terminal can show.
 *
 * @param progress standard error is a terminal that can rewrite its line
 * @param colour colour may be used there
 * @param columns the width of the terminal on standard output; 0: it is not a terminal, or its
 *     width is unknown
 */
public record Look(boolean progress, boolean colour, int columns) {
  /** Files and pipes. */
  public static Look plain() {
    return new Look(false, false, 0);
  }

  /** Whether the user asks that nothing that was written is written over: for screen readers. */
  public static boolean isPlain(Map<String, String> environment) {
    return !environment.getOrDefault("GPUSH_PLAIN", "").isEmpty();
  }

  /** The lines of a message, as they are written to standard error. */
  public byte[] bytes(Message message) {
    return message.text(red("gpush:")).getBytes(StandardCharsets.UTF_8);
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
