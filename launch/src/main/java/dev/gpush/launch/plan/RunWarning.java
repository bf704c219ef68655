package dev.gpush.launch.plan;

import dev.gpush.core.json.Json;
import java.time.Duration;

/**
 * What ranks get before the nodes go ({@code run.warn}): a signal, so long before the hard end. The
 * agents send it, a gateway is not needed.
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
