package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A pipe that is being opened on a thread of its own, because opening may hang for as long as the
 * network does. Who does not want it any more abandons it: a pipe that comes later is closed.
 */
final class Opening {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  private final CompletableFuture<Pipe> result = new CompletableFuture<>();
  private final Task<Boolean, RuntimeException> running;

  /**
   * @param done called when there is a result, without a lock
   */
  Opening(Tasks tasks, PipeSource pipes, PipeSource.Attempt attempt, Runnable done) {
    this.running =
        tasks.fork(
            "open",
            () -> {
              open(pipes, attempt);
              done.run();
              return true;
            });
    if (running.isDone()) {
      // Either it ran and has a result, or the link is closed and it never will.
      result.completeExceptionally(new InterruptedException("the link is closed"));
    }
  }

  private void open(PipeSource pipes, PipeSource.Attempt attempt) {
    try {
      Pipe pipe = pipes.open(attempt);
      if (!result.complete(pipe)) {
        close(pipe);
      }
    } catch (IOException | InterruptedException | RuntimeException | Error failed) {
      result.completeExceptionally(failed);
    }
  }

  static void close(Pipe pipe) {
    try {
      pipe.close();
    } catch (IOException late) {
      LOG.log(System.Logger.Level.DEBUG, "closing a pipe failed", late);
    }
  }

  boolean isDone() {
    return result.isDone();
  }

  /** The pipe, or what opening it threw; only when done. */
  Pipe pipe() throws IOException, InterruptedException {
    try {
      return result.get();
    } catch (CancellationException abandoned) {
      throw new IOException("not wanted any more", abandoned);
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case IOException broken -> throw broken;
        case InterruptedException stop -> throw stop;
        case RuntimeException other -> throw other;
        case Error other -> throw other;
        case null, default -> throw new IllegalStateException(failed);
      }
    }
  }

  /** Idempotent. Of no effect on a pipe that was taken already. */
  void abandon() {
    result.cancel(false);
    running.cancel();
  }
}
