package dev.gpush.launch.node;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A node behind a {@link Link}. */
public final class LinkNode implements NodeCalls {
  /** A Python's packages may be a thousand names. */
  private static final int MOST_OUTPUT = 512 * 1024;

  private static final int MOST_ERRORS = 16 * 1024;

  /** A run's output is bulk from the first byte. */
  private static final int FOLLOW_WINDOW = 256 * 1024;

  /** docs/technical/runs.md: how the builtin {@code follow} ends then. */
  private static final int UNKNOWN_RUN = 3;

  private final Link link;
  private final BooleanSupplier lost;
  private final Tasks tasks;

  /**
   * @param lost whether the backend has said that the node is gone
   * @param tasks for the limits of questions
   */
  public LinkNode(Link link, BooleanSupplier lost, Tasks tasks) {
    this.link = link;
    this.lost = lost;
    this.tasks = tasks;
  }

  @Override
  public boolean isLost() {
    return lost.getAsBoolean();
  }

  @Override
  public Json call(String method, Json.Obj params) throws InterruptedException {
    return link.call(method, params);
  }

  @Override
  public InputStream follow(Json.Obj arguments) throws InterruptedException {
    BlockingStream stream =
        link.openReady(
            Link.builtin("follow").with("args", arguments).with("credit", FOLLOW_WINDOW));
    return new FilterInputStream(stream.output(0)) {
      @Override
      public int read(byte[] target, int offset, int length) throws IOException {
        int count = in.read(target, offset, length);
        if (count < 0) {
          requireWhole(stream, arguments);
        }
        return count;
      }

      @Override
      public void close() {
        stream.close();
      }
    };
  }

  private static void requireWhole(BlockingStream stream, Json.Obj arguments) throws IOException {
    int exit;
    try {
      exit = stream.awaitClose().integer("exit").orElse(128);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the end of the output was not awaited");
    }
    if (exit == UNKNOWN_RUN) {
      if (arguments.flag("follow")) {
        // The reader asks then how the run ended, and is refused.
        return;
      }
      throw new GpushException(
          new AgentFailure.Refused(
              "follow", "not-found", Json.object("run", arguments.number("run"))));
    }
    if (exit != 0) {
      throw new IOException("the output ended with status " + exit);
    }
  }

  @Override
  public Answer ask(List<String> arguments, Map<String, String> environment, Duration limit)
      throws InterruptedException {
    try (BlockingStream stream = link.open(request(arguments, environment))) {
      return tasks.within(limit, "ask", () -> answer(stream));
    } catch (IOException broken) {
      throw over(broken);
    } catch (TimeoutException late) {
      throw new GpushException(
          new AgentFailure.Refused(
              "exec",
              "timeout",
              Json.object("seconds", limit.toSeconds(), "program", arguments.getFirst())),
          late);
    }
  }

  private static Json.Obj request(List<String> arguments, Map<String, String> environment) {
    return Json.object(
        "type",
        "exec",
        "argv",
        arguments,
        "env",
        environment,
        "stdin",
        false,
        "kill_on_close",
        true);
  }

  @Override
  public int watch(List<String> arguments, Map<String, String> environment, Consumer<String> lines)
      throws InterruptedException {
    try (BlockingStream stream = link.openReady(request(arguments, environment))) {
      var splitter = new LineReader(stream.output(0));
      for (Optional<String> line = splitter.next(); line.isPresent(); line = splitter.next()) {
        lines.accept(line.get());
      }
      return stream.awaitClose().integer("exit").orElse(128);
    } catch (IOException broken) {
      throw over(broken);
    }
  }

  private GpushException over(IOException broken) {
    return new GpushException(
        new AgentFailure.LinkOver(link.node(), String.valueOf(broken.getMessage())), broken);
  }

  private Answer answer(BlockingStream stream) throws IOException, InterruptedException {
    stream.awaitOpened();
    Task<String, IOException> errors =
        tasks.fork("ask-errors", () -> text(stream.output(1), MOST_ERRORS));
    try {
      String output = text(stream.output(0), MOST_OUTPUT);
      Json.Obj close = stream.awaitClose();
      int exit = close.integer("exit").orElse(128);
      return new Answer(exit, output, errors.get());
    } finally {
      errors.cancel();
    }
  }

  /** The beginning; the rest is read and dropped, so that the program can end. */
  private static String text(InputStream in, int most) throws IOException {
    String text = new String(in.readNBytes(most), StandardCharsets.UTF_8);
    in.transferTo(java.io.OutputStream.nullOutputStream());
    return text;
  }
}
