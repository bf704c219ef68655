package dev.gpush.link.simulator.agent;

import dev.gpush.core.json.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The agent's own link ({@code agent/tests/simulated.py}) in one Python for many schedules. */
public final class PythonAgent implements AgentSide {
  private static final HexFormat HEX = HexFormat.of();

  private final Process process;
  private final BufferedWriter requests;
  private final BufferedReader answers;
  private final List<OwnerEvent> events = new ArrayList<>();

  public PythonAgent(AgentFault fault) throws IOException {
    process =
        new ProcessBuilder("python3", "-B", "simulated.py", fault.name())
            .directory(Path.of("..", "agent", "tests").toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    requests = process.outputWriter(StandardCharsets.UTF_8);
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  private Json ask(Object... request) {
    try {
      requests.write(Json.array(List.of(request)).write());
      requests.newLine();
      requests.flush();
      String line = answers.readLine();
      if (line == null) {
        throw new AssertionError("the Python side ended");
      }
      List<Json> answer = Json.parse(line).items();
      answer.get(1).items().forEach(event -> events.add(event(event.items())));
      return answer.get(0);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private static OwnerEvent event(List<Json> event) {
    return new OwnerEvent(
        Kind.valueOf(event.get(0).asText().orElseThrow()),
        (int) number(event.get(1)),
        (int) number(event.get(2)),
        HEX.parseHex(event.get(3).asText().orElseThrow()),
        (Json.Obj) event.get(4));
  }

  private static long number(Json json) {
    return json instanceof Json.Int(long value) ? value : -1;
  }

  @Override
  public void start(String identity, Sizes sizes) {
    events.clear();
    ask(
        "start",
        identity,
        List.of(
            sizes.window(),
            sizes.small(),
            sizes.largest(),
            sizes.pool(),
            sizes.queue(),
            sizes.burst(),
            sizes.chunk()));
    events.clear();
  }

  @Override
  public void connected(int pipe, long nanos) {
    ask("connected", pipe);
  }

  @Override
  public void received(int pipe, byte[] bytes, long nanos) {
    ask("received", pipe, HEX.formatHex(bytes), nanos);
  }

  @Override
  public void disconnected(int pipe, long nanos) {
    ask("disconnected", pipe);
  }

  @Override
  public byte[] take(int pipe, long nanos) {
    return HEX.parseHex(ask("take", pipe, nanos).asText().orElseThrow());
  }

  @Override
  public boolean isOpen(int pipe) {
    return ask("isOpen", pipe) instanceof Json.Bool(boolean is) && is;
  }

  @Override
  public long ackNanos() {
    return switch (ask("ack")) {
      case Json.Real(double seconds) -> (long) (seconds * 1e9) + 1;
      case Json.Int(long seconds) -> seconds * 1_000_000_000L + 1;
      default -> Long.MAX_VALUE;
    };
  }

  @Override
  public void ping(long token) {
    ask("ping", token);
  }

  @Override
  public List<OwnerEvent> events() {
    var all = List.copyOf(events);
    events.clear();
    return all;
  }

  @Override
  public Holds holds() {
    List<Json> holds = ask("holds").items();
    return new Holds((int) number(holds.get(0)), (int) number(holds.get(1)), number(holds.get(2)));
  }

  @Override
  public void accept(int stream) {
    ask("accept", stream);
  }

  @Override
  public void refuse(int stream, String code) {
    ask("refuse", stream, code);
  }

  @Override
  public int room(int stream) {
    return (int) number(ask("room", stream));
  }

  @Override
  public void send(int stream, int channel, byte[] bytes) {
    ask("send", stream, channel, HEX.formatHex(bytes));
  }

  @Override
  public void end(int stream, int channel) {
    ask("end", stream, channel);
  }

  @Override
  public void message(int stream, Json.Obj message, boolean urgent) {
    ask("message", stream, message, urgent);
  }

  @Override
  public void closeStream(int stream, Json.Obj reason) {
    ask("close", stream, reason);
  }

  @Override
  public void consumed(int stream, int count, long nanos) {
    ask("consumed", stream, count, nanos);
  }

  @Override
  public int open(Json.Obj request, boolean hasSources) {
    return (int) number(ask("open", request, hasSources));
  }

  @Override
  public void startSources(int stream) {
    ask("sources", stream);
  }

  @Override
  public int readSource(int stream, int channel, byte[] ready, boolean isAtEnd) {
    return (int) number(ask("read", stream, channel, HEX.formatHex(ready), isAtEnd));
  }

  @Override
  public void close() {
    process.destroy();
  }
}
