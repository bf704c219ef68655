package dev.gpush.backends.kubernetes.api;

import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The API server of a cluster: objects by their paths, and commands in pods. Requests are not
 * repeated here; no answer is {@link Unanswered}, and a refusal is {@link ApiRefusal}.
 */
public interface ApiServer {
  /** Of the context; empty when it says none. */
  Optional<String> namespace();

  /** Its address, as the kubeconfig has it. */
  String server();

  /** The context that leads to it; empty when there is none. */
  default Optional<String> context() {
    return Optional.empty();
  }

  /** The same with other access; this one where there is only one. */
  default ApiServer at(Access access) {
    return this;
  }

  Json get(String path) throws InterruptedException, Unanswered, ApiRefusal;

  /** Empty when there is no such object. */
  default Optional<Json> find(String path) throws InterruptedException, Unanswered, ApiRefusal {
    try {
      return Optional.of(get(path));
    } catch (ApiRefusal refusal) {
      if (refusal.isNotFound()) {
        return Optional.empty();
      }
      throw refusal;
    }
  }

  Json create(String path, Json object) throws InterruptedException, Unanswered, ApiRefusal;

  Json replace(String path, Json object) throws InterruptedException, Unanswered, ApiRefusal;

  /**
   * Changes a part of an object.
   *
   * @param change applied as a merge patch
   */
  Json change(String path, Json change) throws InterruptedException, Unanswered, ApiRefusal;

  /** Deletes it; a missing object is not an error. */
  void delete(String path, Json options) throws InterruptedException, Unanswered, ApiRefusal;

  /** The server's time of day, to compare with times in its objects. */
  Instant time() throws InterruptedException, Unanswered;

  /** The server's version. */
  default Json version() throws InterruptedException, Unanswered {
    try {
      return get("/version");
    } catch (ApiRefusal refusal) {
      throw new Unanswered(server() + " does not say its version: " + refusal.words(), refusal);
    }
  }

  /** The end of a container's output before it ended last; empty if it is not available. */
  String log(String namespace, String pod, String container)
      throws InterruptedException, Unanswered;

  /**
   * Runs a command in a container.
   *
   * @throws IOException when it was not started
   */
  Pipe exec(String namespace, String pod, String container, List<String> arguments)
      throws IOException;

  /** Encodes a query parameter. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
