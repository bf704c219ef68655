package dev.gpush.backends.local;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/** Runs a small program of this machine for what it prints; it may hang, or print without end. */
final class Question {
  private static final int MOST_OUTPUT = 256 * 1024;

  /** A driver that wakes its GPUs takes seconds; one that takes longer hangs. */
  private static final Duration LIMIT = Duration.ofSeconds(15);

  private final LocalHost host;
  private final Tasks tasks;

  Question(LocalHost host, Tasks tasks) {
    this.host = host;
    this.tasks = tasks;
  }

  sealed interface Answer {
    record Output(String text) implements Answer {}

    record NotInstalled() implements Answer {}

    record Failed(String reason) implements Answer {}
  }

  Answer ask(List<String> command, Map<String, String> environment) throws InterruptedException {
    Pipe pipe;
    try {
      pipe = host.spawn(command, environment);
    } catch (IOException cannotStart) {
      return new Answer.NotInstalled();
    }
    try (pipe) {
      return tasks.within(LIMIT, "ask-" + command.getFirst(), () -> read(pipe), pipe::close);
    } catch (IOException broken) {
      return new Answer.Failed(String.valueOf(broken.getMessage()));
    } catch (TimeoutException hangs) {
      return new Answer.Failed("no answer within " + DurationText.of(LIMIT));
    }
  }

  private static Answer read(Pipe pipe) throws IOException, InterruptedException {
    pipe.input().close();
    byte[] output = pipe.output().readNBytes(MOST_OUTPUT);
    int status = pipe.await();
    return status == 0
        ? new Answer.Output(new String(output, StandardCharsets.UTF_8))
        : new Answer.Failed("exit status " + status);
  }
}
