package dev.gpush.launch;

import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what came. */
final class FakeOutput implements RunOutput {
  static final LogRequest UNTIL_ITS_END = new LogRequest(Set.of(), true, Optional.empty());
  static final LogRequest UP_TO_NOW = new LogRequest(Set.of(), false, Optional.empty());

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final List<String> events = new CopyOnWriteArrayList<>();

  /** {@code 0/3 text}, {@code 0/3! text} for stderr. */
  List<String> lines() {
    return List.copyOf(lines);
  }

  /** The lines of stdout alone: mpirun may write warnings of its own to stderr. */
  List<String> printed() {
    return lines.stream().filter(line -> !line.split(" ", 2)[0].endsWith("!")).toList();
  }

  List<String> events() {
    return List.copyOf(events);
  }

  @Override
  public void line(int node, int rank, boolean error, byte[] text) {
    lines.add(node + "/" + rank + (error ? "! " : " ") + new String(text, StandardCharsets.UTF_8));
  }

  @Override
  public void restarting(int node, RunFailure failure, int restart, int most) {
    events.add(
        node + ": rank " + failure.rank() + " " + failure.code() + ", " + restart + " of " + most);
  }

  @Override
  public void event(int node, String text) {
    events.add(node + ": " + text);
  }
}
