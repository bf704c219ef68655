package dev.gpush.shell.page;

import dev.gpush.core.json.Json;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A command that ends or extends something and waits for an answer to each of its questions, as it
 * would in a terminal: a yes answers the question with the number that it names, and no other.
 * Thread-safe.
 */
final class PageConversation {
  private final long id;
  private final Duration patience;
  private final BlockingQueue<Json.Obj> said = new LinkedBlockingQueue<>();

  // guarded by this
  private long asked;
  private Optional<BlockingQueue<String>> open = Optional.empty();

  /**
   * @param patience how long an answer may take; without one the command goes on as if it could ask
   *     no question
   */
  PageConversation(long id, Duration patience) {
    this.id = id;
    this.patience = patience;
  }

  /** Carries the command out, on the calling thread. */
  void run(PageCommands commands, List<String> words) throws InterruptedException {
    var client =
        new PageClient(words, commands.folder(), OutputStream.nullOutputStream(), this::ask);
    int status = commands.handler().handle(client);
    said.add(line(status == 0, client.said()));
  }

  private Optional<String> ask(String question) throws InterruptedException {
    // Its own: what comes too late for this question is there for no other.
    var answers = new ArrayBlockingQueue<String>(1);
    synchronized (this) {
      asked++;
      open = Optional.of(answers);
      said.add(line(false, "").with("question", question).with("asked", asked));
    }
    try {
      return Optional.ofNullable(answers.poll(patience.toNanos(), TimeUnit.NANOSECONDS));
    } finally {
      synchronized (this) {
        open = Optional.empty();
      }
    }
  }

  private Json.Obj line(boolean isDone, String text) {
    return Json.object("id", id, "done", isDone, "said", text);
  }

  /** Its next question, or how it has ended. */
  Json.Obj next() throws InterruptedException {
    return said.take();
  }

  /** Whether a question is open. */
  synchronized boolean isAsking() {
    return open.isPresent();
  }

  /** Answers the question with this number; false if it is not open. */
  synchronized boolean answer(long question, boolean isYes) {
    boolean isTaken = question == asked && isAsking();
    if (isTaken) {
      open.orElseThrow().add(isYes ? "yes" : "no");
      open = Optional.empty();
    }
    return isTaken;
  }
}
