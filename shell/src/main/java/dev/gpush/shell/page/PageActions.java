package dev.gpush.shell.page;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * Ends and extends what the page shows; all that the page can do is here. A command goes on when
 * its browser leaves; a question that is not answered ends it without effect. Thread-safe.
 */
final class PageActions {
  /** In progress or waiting for an answer. */
  static final int MOST = 8;

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Pattern TIME = Pattern.compile("[0-9]{1,4}[mhd]");

  private final PageCommands commands;
  private final Tasks tasks;
  private final AtomicLong last = new AtomicLong();
  private final Map<Long, PageConversation> open = new ConcurrentHashMap<>();
  private final Semaphore room = new Semaphore(MOST);

  PageActions(PageCommands commands, Tasks tasks) {
    this.commands = commands;
    this.tasks = tasks;
  }

  /** What became of a request, or why it is refused. */
  sealed interface Answer {
    record Said(Json json) implements Answer {}

    record Refused(PageRefusal refusal) implements Answer {}
  }

  Answer act(String text) throws InterruptedException {
    try {
      Json json = Json.parse(text);
      return json.text("do").orElse("").equals("answer") ? answer(json) : begin(words(json));
    } catch (GpushException | JsonSyntaxException malformed) {
      return new Answer.Refused(PageRefusal.MALFORMED);
    }
  }

  private Answer answer(Json json) throws InterruptedException {
    Optional<PageConversation> asking = json.number("id").map(open::get);
    long question = json.number("asked").orElse(0L);
    return asking.isPresent() && asking.get().answer(question, json.flag("yes"))
        ? new Answer.Said(asking.get().next())
        : new Answer.Refused(PageRefusal.NOT_ASKED);
  }

  private Answer begin(Optional<List<String>> words) throws InterruptedException {
    if (words.isEmpty()) {
      return new Answer.Refused(PageRefusal.MALFORMED);
    }
    if (!room.tryAcquire()) {
      return new Answer.Refused(PageRefusal.TOO_MANY);
    }
    long id = last.incrementAndGet();
    var conversation = new PageConversation(id, PATIENCE);
    open.put(id, conversation);
    boolean isStarted = tasks.start("action", () -> run(id, conversation, words.get()));
    if (!isStarted) {
      close(id);
      return new Answer.Refused(PageRefusal.NOT_ASKED);
    }
    return new Answer.Said(conversation.next());
  }

  private void run(long id, PageConversation conversation, List<String> words)
      throws InterruptedException {
    try {
      conversation.run(commands, words);
    } finally {
      close(id);
    }
  }

  private void close(long id) {
    open.remove(id);
    room.release();
  }

  /** Whether a command is in progress that does not wait for an answer. */
  boolean isInUse() {
    return !open.values().stream().allMatch(PageConversation::isAsking);
  }

  /** The command line; empty if it is none of those that the page has. */
  private static Optional<List<String>> words(Json json) {
    String session = SessionName.parse(json.text("session").orElse("")).text();
    Optional<String> time = json.text("for").filter(each -> TIME.matcher(each).matches());
    Optional<Integer> run = json.integer("run").filter(each -> each > 0);
    return switch (json.text("do").orElse("")) {
      case "down" -> Optional.of(List.of("down", session));
      case "extend" ->
          Optional.of(
              time.map(each -> List.of("extend", "-s", session, "--for", each))
                  .orElse(List.of("extend", "-s", session)));
      case "stop" -> run.map(number -> List.of("stop", number.toString(), "-s", session));
      default -> Optional.empty();
    };
  }
}
