package dev.gpush.shell.page;

import dev.gpush.core.json.Json;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A command that ends or extends something and waits for an answer to each of its questions, as it
 * would in a terminal: a yes answers the question that was shown, and no later one. Thread-safe.
 */
final class PageConversation {
  private final long id;
  private final Duration patience;
  private final BlockingQueue<Json.Obj> said = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final AtomicBoolean isAsking = new AtomicBoolean();

  /**
   * @param patience how long an answer may take; then there is nobody to ask
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
    say(status == 0, Optional.empty(), client.said());
  }

  private Optional<String> ask(String question) throws InterruptedException {
    isAsking.set(true);
    say(false, Optional.of(question), "");
    Optional<String> answer =
        Optional.ofNullable(answers.poll(patience.toNanos(), TimeUnit.NANOSECONDS));
    isAsking.set(false);
    return answer;
  }

  private void say(boolean isDone, Optional<String> question, String text) {
    said.add(Json.object("id", id, "done", isDone, "question", question, "said", text));
  }

  /** Its next question, or how it has ended. */
  Json.Obj next() throws InterruptedException {
    return said.take();
  }

  /** Answers the question that is open; false if there is none. */
  boolean answer(boolean isYes) {
    boolean isTaken = isAsking.compareAndSet(true, false);
    if (isTaken) {
      answers.add(isYes ? "yes" : "no");
    }
    return isTaken;
  }
}
