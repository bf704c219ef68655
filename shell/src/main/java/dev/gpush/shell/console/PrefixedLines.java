package dev.gpush.shell.console;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.text.Clean;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** For terminals: each line after its rank, with the ranks' standard error on standard error. */
public final class PrefixedLines implements RunPrinter {
  private final OutputPump pump;
  private final Map<Integer, byte[]> prefixes = new HashMap<>();

  public PrefixedLines(OutputPump pump) {
    this.pump = pump;
  }

  @Override
  public void line(int node, int rank, boolean isError, byte[] text) {
    pump.write(isError, prefixes.computeIfAbsent(rank, PrefixedLines::prefix), text);
  }

  @Override
  public void lines(int node, int rank, boolean isError, LineBlock lines) {
    pump.writeAll(isError, prefixes.computeIfAbsent(rank, PrefixedLines::prefix), lines);
  }

  @Override
  public void event(int node, String text) {
    pump.event(text, true, "gpush: " + Clean.line(text));
  }

  @Override
  public void close() {
    pump.close();
  }

  private static byte[] prefix(int rank) {
    return (rank < 0 ? "[launch] " : "[" + rank + "] ").getBytes(StandardCharsets.UTF_8);
  }
}
