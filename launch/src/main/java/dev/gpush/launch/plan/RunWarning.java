package dev.gpush.launch.plan;

import dev.gpush.core.json.Json;
import java.time.Duration;

/**
 * The signal that ranks get at some time before the nodes end ({@code run.warn}). The agents send
 * it, without a gateway.
 */
public record RunWarning(String signal, Duration before) {
  /** As the configuration keeps it: {@code USR1@600}. */
  public static RunWarning parse(String text) {
    int at = text.indexOf('@');
    if (at < 1) {
      throw new IllegalArgumentException("SIGNAL@SECONDS, not " + text);
    }
    return new RunWarning(
        text.substring(0, at), Duration.ofSeconds(Long.parseLong(text.substring(at + 1))));
  }

  Json.Obj json() {
    return Json.object("signal", signal, "before_s", before.toSeconds());
  }
}
