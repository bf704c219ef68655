package dev.gpush.shell.console;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Clean;
import java.nio.charset.StandardCharsets;

/**
 * For programs: each line and each event as one JSON object on a line of standard output. Bytes
 * that are not UTF-8 become U+FFFD, because JSON is text.
 */
public final class JsonLines implements RunPrinter {
  private static final byte[] NONE = new byte[0];

  private final OutputPump pump;
  private final boolean hasRanks;

  private JsonLines(OutputPump pump, boolean hasRanks) {
    this.pump = pump;
    this.hasRanks = hasRanks;
  }

  /** Of a run. */
  public static JsonLines ofRanks(OutputPump pump) {
    return new JsonLines(pump, true);
  }

  /** Of a command on nodes. */
  public static JsonLines ofNodes(OutputPump pump) {
    return new JsonLines(pump, false);
  }

  @Override
  public void line(int node, int rank, boolean isError, byte[] text) {
    Json.Obj from = Json.object("type", "line", "node", node);
    Json.Obj line =
        (hasRanks ? from.with("rank", rank) : from)
            .with("stream", isError ? "err" : "out")
            .with("text", new String(text, StandardCharsets.UTF_8));
    pump.write(false, NONE, line.write().getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public boolean isForPeople() {
    return false;
  }

  @Override
  public void event(int node, String text) {
    Json.Obj event = Json.object("type", "event", "node", node, "text", Clean.line(text));
    pump.event(text, false, event.write());
  }

  @Override
  public void close() {
    pump.close();
  }
}
