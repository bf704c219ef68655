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
 * The API server of a cluster: objects by their paths, and commands in pods. Nothing is asked again
 * here; that nobody answered is {@link Unanswered}, and a no is {@link ApiRefusal}.
 */
public interface ApiServer {
  /** Of the context; empty when it says none. */
  Optional<String> namespace();

  /** Its address, as the kubeconfig has it. */
  String server();

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
   * @param change laid over the object, as a merge patch
   */
  Json change(String path, Json change) throws InterruptedException, Unanswered, ApiRefusal;

  /** That it is gone already is as good. */
  void delete(String path, Json options) throws InterruptedException, Unanswered, ApiRefusal;

  /** The server's own time of day, to compare with what it has written into its objects. */
  Instant time() throws InterruptedException, Unanswered;

  /** What the server says of itself; asked for once. */
  Json version() throws InterruptedException, Unanswered;

  /** The second number of the server's version. */
  default int minor() throws InterruptedException, Unanswered {
    String digits = version().text("minor").orElse("").replaceAll("[^0-9].*", "");
    return digits.isEmpty() ? 0 : Integer.parseInt(digits);
  }

  /** The end of what a container wrote before it ended last; empty where that cannot be had. */
  String log(String namespace, String pod, String container)
      throws InterruptedException, Unanswered;

  /**
   * Runs a command in a container.
   *
   * @throws IOException when it was not begun
   */
  Pipe exec(String namespace, String pod, String container, List<String> arguments)
      throws IOException;

  /** For a query. */
  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
