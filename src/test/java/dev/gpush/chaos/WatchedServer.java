package dev.gpush.chaos;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * An API server as one gateway has it: each question is a moment, its answer another, and one
 * answer to a question that changes something may get lost.
 */
record WatchedServer(ApiServer real, Life life) implements ApiServer {
  @FunctionalInterface
  private interface Question<T> {
    T ask() throws InterruptedException, Unanswered, ApiRefusal;
  }

  private <T> T asked(Question<T> question) throws InterruptedException, Unanswered, ApiRefusal {
    life.moment();
    T answer = question.ask();
    life.moment();
    return answer;
  }

  private <T> T changed(Question<T> question) throws InterruptedException, Unanswered, ApiRefusal {
    T answer = asked(question);
    if (life.losesNow()) {
      throw new Unanswered("the connection was lost", null);
    }
    return answer;
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
    return asked(() -> real.get(path));
  }

  @Override
  public Json create(String path, Json object) throws InterruptedException, Unanswered, ApiRefusal {
    return changed(() -> real.create(path, object));
  }

  @Override
  public Json replace(String path, Json object)
      throws InterruptedException, Unanswered, ApiRefusal {
    return changed(() -> real.replace(path, object));
  }

  @Override
  public Json change(String path, Json change) throws InterruptedException, Unanswered, ApiRefusal {
    return changed(() -> real.change(path, change));
  }

  @Override
  public void delete(String path, Json options)
      throws InterruptedException, Unanswered, ApiRefusal {
    changed(
        () -> {
          real.delete(path, options);
          return true;
        });
  }

  @Override
  public Instant time() throws InterruptedException, Unanswered {
    return real.time();
  }

  @Override
  public Json version() throws InterruptedException, Unanswered {
    return real.version();
  }

  @Override
  public String log(String namespace, String pod, String container)
      throws InterruptedException, Unanswered {
    return real.log(namespace, pod, container);
  }

  @Override
  public Pipe exec(String namespace, String pod, String container, List<String> arguments)
      throws IOException {
    return life.command(arguments, () -> real.exec(namespace, pod, container, arguments));
  }
}
