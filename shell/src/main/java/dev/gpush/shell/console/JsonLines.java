package dev.gpush.shell.console;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Clean;
import java.nio.charset.StandardCharsets;

/**
 * For programs: each line and each event as one JSON object on a line of standard output. Bytes
 * that are not UTF-8 become U+FFFD, because JSON is text.
 */
public final class JsonLines implements LineFormat {
  private static final byte[] NONE = new byte[0];

  @Override
  public void line(int node, int rank, boolean isError, byte[] text, Sink sink) {
    write(
        sink,
        Json.object(
            "type",
            "line",
            "node",
            node,
            "rank",
            rank,
            "stream",
            isError ? "err" : "out",
            "text",
            new String(text, StandardCharsets.UTF_8)));
  }

  @Override
  public boolean isForPeople() {
    return false;
  }

  @Override
  public void event(int node, String text, Sink sink) {
    write(sink, Json.object("type", "event", "node", node, "text", Clean.line(text)));
  }

  private static void write(Sink sink, Json.Obj object) {
    sink.write(false, NONE, object.write().getBytes(StandardCharsets.UTF_8));
  }
}
