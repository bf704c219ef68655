package dev.gpush.shell.console;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.text.Clean;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** For terminals: each line after its rank, with the ranks' standard error on standard error. */
public final class PrefixedLines implements LineFormat {
  private static final byte[] NONE = new byte[0];

  private final Map<Integer, byte[]> prefixes = new HashMap<>();

  @Override
  public void line(int node, int rank, boolean isError, byte[] text, Sink sink) {
    sink.write(isError, prefixes.computeIfAbsent(rank, PrefixedLines::prefix), text);
  }

  @Override
  public void lines(int node, int rank, boolean isError, LineBlock lines, Sink sink) {
    sink.writeAll(isError, prefixes.computeIfAbsent(rank, PrefixedLines::prefix), lines);
  }

  @Override
  public void event(int node, String text, Sink sink) {
    sink.write(true, NONE, ("gpush: " + Clean.line(text)).getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] prefix(int rank) {
    return (rank < 0 ? "[launch] " : "[" + rank + "] ").getBytes(StandardCharsets.UTF_8);
  }
}
