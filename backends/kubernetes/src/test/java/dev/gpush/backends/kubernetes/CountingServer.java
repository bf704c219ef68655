package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A real API server, and what it was asked.
 *
 * @param questions "GET /path?query", "EXEC pod"
 * @param failures how many more creations of Jobs fail, as they do while an admission webhook
 *     starts
 */
record CountingServer(ApiServer real, Queue<String> questions, AtomicInteger failures)
    implements ApiServer {
  CountingServer(ApiServer real) {
    this(real, new ConcurrentLinkedQueue<>(), new AtomicInteger());
  }

  /** Those that begin so, since the last call. */
  List<String> taken(String begin) {
    List<String> all = List.copyOf(questions);
    questions.clear();
    return all.stream().filter(each -> each.startsWith(begin)).toList();
  }

  @Override
  public Optional<String> namespace() {
    return real.namespace();
  }

  @Override
  public String server() {
    return real.server();
  }

  @Override
  public Json get(String path) throws InterruptedException, Unanswered, ApiRefusal {
    questions.add("GET " + path);
    return real.get(path);
  }

  @Override
  public Json create(String path, Json object) throws InterruptedException, Unanswered, ApiRefusal {
    questions.add("CREATE " + path);
    if (path.endsWith("/jobs") && failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new Unanswered("it says 500: failed calling webhook", null);
    }
    return real.create(path, object);
  }

  @Override
  public Json replace(String path, Json object)
      throws InterruptedException, Unanswered, ApiRefusal {
    questions.add("REPLACE " + path);
    return real.replace(path, object);
  }

  @Override
  public Json change(String path, Json change) throws InterruptedException, Unanswered, ApiRefusal {
    questions.add("CHANGE " + path);
    return real.change(path, change);
  }

  @Override
  public void delete(String path, Json options)
      throws InterruptedException, Unanswered, ApiRefusal {
    questions.add("DELETE " + path);
    real.delete(path, options);
  }

  @Override
  public Instant time() throws InterruptedException, Unanswered {
    questions.add("GET time");
    return real.time();
  }

  @Override
  public String log(String namespace, String pod, String container)
      throws InterruptedException, Unanswered {
    questions.add("LOG " + pod);
    return real.log(namespace, pod, container);
  }

  @Override
  public Pipe exec(String namespace, String pod, String container, List<String> arguments)
      throws IOException {
    questions.add("EXEC " + pod);
    return real.exec(namespace, pod, container, arguments);
  }
}
