package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An API server that answers GET with what was recorded, and notes changes and commands.
 *
 * @param answers by path, with the query; a change is added as {@code PATCH path}, and a command in
 *     a pod as {@code EXEC pod}
 */
public record RecordedServer(Map<String, String> answers) implements ApiServer {
  @Override
  public Optional<String> namespace() {
    return Optional.empty();
  }

  @Override
  public String server() {
    return "https://recorded";
  }

  @Override
  public Json get(String path) {
    return Json.parse(
        Optional.ofNullable(answers.get(path)).orElseThrow(() -> new AssertionError(path)));
  }

  @Override
  public Json create(String path, Json object) {
    throw new AssertionError(path);
  }

  @Override
  public Json replace(String path, Json object) {
    throw new AssertionError(path);
  }

  @Override
  public Json change(String path, Json change) {
    answers.put("PATCH " + path, change.write());
    return Json.object();
  }

  @Override
  public void delete(String path, Json options) {
    throw new AssertionError(path);
  }

  @Override
  public Instant time() {
    return Instant.EPOCH;
  }

  @Override
  public String log(String namespace, String pod, String container) {
    throw new AssertionError(pod);
  }

  @Override
  public Pipe exec(String namespace, String pod, String container, List<String> arguments)
      throws IOException {
    answers.put("EXEC " + pod, container);
    throw new IOException("no commands are recorded");
  }
}
