package dev.gpush.shell.page;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * What one browser shows, as lines of JSON, for as long as it reads. Each line has {@code of}, what
 * it is about, and {@code data} as the command prints it or {@code problem}, why there is none. The
 * newest of each replaces what was not sent yet, and of a run's output the last lines are kept, so
 * a browser that does not read has no backlog. Nodes are sampled and a run is followed only
 * meanwhile.
 */
final class PageStream {
  /** Many changes within it are one look; each look asks the session's node 0 as ps does. */
  private static final Duration LOOK_PAUSE = Duration.ofSeconds(1);

  /** What nothing signals, such as use of a node, is this old at most. */
  private static final Duration LOOK_LIMIT = Duration.ofSeconds(10);

  private static final Duration SEND_PAUSE = Duration.ofMillis(200);

  /** After so long an empty line shows whether the browser is still there. */
  private static final Duration SILENCE = Duration.ofSeconds(5);

  /** The lines of a run's output that the page keeps. */
  static final int MOST_LINES = 2000;

  private static final int MOST_CHARACTERS = 1 << 20;

  private static final String USAGE_SECONDS = "2";

  private final PageCommands commands;
  private final PageView view;
  private final Duration sendLimit;
  private final ChangeSignal news = new ChangeSignal();

  // guarded by this
  private final Map<String, Json> newest = new LinkedHashMap<>();
  private final Deque<String> output = new ArrayDeque<>();
  private int characters;
  private long leftOut;
  private Optional<String> lastOutput = Optional.empty();
  private boolean isBroken;

  /**
   * @param sendLimit a browser that takes longer for what it is sent is gone
   */
  PageStream(PageCommands commands, PageView view, Duration sendLimit) {
    this.commands = commands;
    this.view = view;
    this.sendLimit = sendLimit;
  }

  /** Writes until the browser is gone, or has to ask again for the whole output. */
  void copyTo(OutputStream to, Tasks tasks) throws IOException, InterruptedException {
    Tasks sources = tasks.group("stream");
    try {
      sources.start("state", this::look);
      if (view.usage()) {
        sources.start("usage", this::sample);
      }
      if (view.run().isPresent()) {
        sources.start("output", this::follow);
      }
      while (!isBroken()) {
        long seen = news.count();
        String lines = take();
        send((lines.isEmpty() ? "\n" : lines).getBytes(StandardCharsets.UTF_8), to, sources);
        news.await(seen, SEND_PAUSE, SILENCE);
      }
    } finally {
      // Interrupted, it would not wait for them.
      boolean wasInterrupted = Thread.interrupted();
      sources.close();
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void send(byte[] lines, OutputStream to, Tasks sources)
      throws IOException, InterruptedException {
    Work<Boolean, IOException> writing =
        () -> {
          to.write(lines);
          to.flush();
          return true;
        };
    try {
      // The interrupt at the limit closes the connection.
      sources.within(sendLimit, "send", writing);
    } catch (TimeoutException stuck) {
      throw new IOException("the browser does not read", stuck);
    }
  }

  private void look() throws InterruptedException {
    while (true) {
      long seen = commands.changes().count();
      put(commands.json("sessions", List.of("ps", "--json")));
      if (view.session().isPresent()) {
        put(commands.json("nodes", words("nodes", "--json")));
        put(commands.json("runs", words("runs", "--json")));
      }
      commands.changes().await(seen, LOOK_PAUSE, LOOK_LIMIT);
    }
  }

  /** Again after a failure: a link comes back, and a session gets ready. */
  private void sample() throws InterruptedException {
    while (true) {
      long seen = commands.changes().count();
      String said =
          commands.follow(
              words("top", "--json", "--interval", USAGE_SECONDS),
              line -> put(Json.object("of", "usage", "data", Json.parse(line))));
      put(Json.object("of", "usage", "problem", said));
      commands.changes().await(seen, LOOK_PAUSE, LOOK_LIMIT);
    }
  }

  private void follow() throws InterruptedException {
    String run = view.run().orElseThrow().toString();
    String said = commands.follow(words("logs", "--json", "-f", run), this::add);
    if (!said.isEmpty()) {
      put(Json.object("of", "output", "problem", said));
    }
    breakOff();
  }

  /** Output that stopped before its run has ended begins again, with the whole stream. */
  private void breakOff() {
    synchronized (this) {
      isBroken =
          lastOutput
              .filter(line -> !Json.parse(line).text("type").orElse("").equals("end"))
              .isPresent();
    }
    news.signal();
  }

  private synchronized boolean isBroken() {
    return isBroken;
  }

  private List<String> words(String verb, String... others) {
    var words = new ArrayList<>(List.of(verb, "-s", view.session().orElseThrow().text()));
    words.addAll(List.of(others));
    return words;
  }

  private void put(Json.Obj line) {
    synchronized (this) {
      newest.put(line.text("of").orElseThrow(), line);
    }
    news.signal();
  }

  private void add(String line) {
    synchronized (this) {
      output.add(line);
      lastOutput = Optional.of(line);
      characters += line.length();
      while (output.size() > MOST_LINES || characters > MOST_CHARACTERS) {
        characters -= output.remove().length();
        leftOut++;
      }
    }
    news.signal();
  }

  /** What was not sent yet. */
  private synchronized String take() {
    var lines = new StringBuilder();
    if (!output.isEmpty()) {
      // Each is a value already.
      lines.append("{\"of\":\"output\",\"left_out\":").append(leftOut);
      lines.append(",\"data\":[").append(String.join(",", output)).append("]}\n");
      output.clear();
      characters = 0;
      leftOut = 0;
    }
    newest.values().forEach(line -> lines.append(line.write()).append('\n'));
    newest.clear();
    return lines.toString();
  }
}
