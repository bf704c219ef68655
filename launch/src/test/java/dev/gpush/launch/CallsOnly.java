package dev.gpush.launch;

import dev.gpush.core.json.Json;
import dev.gpush.launch.node.NodeCalls;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A node on which programs do nothing. */
public class CallsOnly implements NodeCalls {
  private final Answering answering;

  public CallsOnly(Answering answering) {
    this.answering = answering;
  }

  /** What is said to a call. */
  @FunctionalInterface
  public interface Answering {
    Json answer(String method) throws InterruptedException;
  }

  @Override
  public Json call(String method, Json.Obj params) throws InterruptedException {
    return answering.answer(method);
  }

  @Override
  public InputStream follow(Json.Obj arguments) throws InterruptedException {
    return InputStream.nullInputStream();
  }

  @Override
  public Answer ask(List<String> arguments, Map<String, String> environment, Duration limit) {
    return new Answer(0, "", "");
  }

  @Override
  public int watch(
      List<String> arguments, Map<String, String> environment, Consumer<String> lines) {
    return 0;
  }
}
