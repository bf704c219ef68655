package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A pipe that is being opened on its own thread, because opening may hang as long as the network
 * does. It may be abandoned: then a pipe that opens later is closed, and no result is reported.
 */
final class PipeOpening {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  private final AtomicBoolean isSettled = new AtomicBoolean();
  private final Task<Boolean, RuntimeException> running;

  /** Called with the result, on the opening thread and without a lock. */
  record Result(Consumer<Pipe> opened, Consumer<Throwable> failed) {}

  PipeOpening(Tasks tasks, PipeSource pipes, Result result) {
    this.running =
        tasks.fork(
            "open",
            () -> {
              open(pipes, result);
              return true;
            });
  }

  private void open(PipeSource pipes, Result result) {
    Pipe pipe;
    try {
      pipe = pipes.open();
    } catch (IOException | InterruptedException | RuntimeException | Error failed) {
      if (isSettled.compareAndSet(false, true)) {
        result.failed().accept(failed);
      }
      return;
    }
    if (isSettled.compareAndSet(false, true)) {
      result.opened().accept(pipe);
    } else {
      close(pipe);
    }
  }

  static void close(Pipe pipe) {
    try {
      pipe.close();
    } catch (IOException late) {
      LOG.log(System.Logger.Level.DEBUG, "closing a pipe failed", late);
    }
  }

  /** Idempotent. Of no effect on a pipe that is open already. */
  void abandon() {
    if (isSettled.compareAndSet(false, true)) {
      running.cancel();
    }
  }
}
