package dev.gpush.shell.console;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.text.Clean;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Each line after who printed it, with standard error on standard error. */
public final class PrefixedLines implements RunPrinter {
  private final OutputPump pump;
  private final Labels labels;
  private final Map<Integer, byte[]> prefixes = new HashMap<>();

  public PrefixedLines(OutputPump pump, Labels labels) {
    this.pump = pump;
    this.labels = labels;
  }

  @Override
  public void line(int node, int rank, boolean isError, byte[] text) {
    pump.write(isError, prefixes.computeIfAbsent(rank, this::prefix), text);
  }

  @Override
  public void lines(int node, int rank, boolean isError, LineBlock lines) {
    pump.writeAll(isError, prefixes.computeIfAbsent(rank, this::prefix), lines);
  }

  @Override
  public void event(int node, String text) {
    pump.event(text, true, "gpush: " + Clean.line(text));
  }

  @Override
  public void close() {
    pump.close();
  }

  private byte[] prefix(int rank) {
    return labels.of(new TreeSet<>(Set.of(rank))).getBytes(StandardCharsets.UTF_8);
  }
}
