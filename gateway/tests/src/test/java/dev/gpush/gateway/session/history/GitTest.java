package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.task.Tasks;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GitTest {
  /** A thread that still reads from it five seconds later would be reported. */
  @Test
  void aSilentCommandEndsWithItsCaller(@TempDir Path root) throws Exception {
    BlockingQueue<Throwable> reported = new LinkedBlockingQueue<>();
    assertEquals(0, new ProcessBuilder("mkfifo", root.resolve("silent") + "").start().waitFor());
    try (Tasks tasks = Tasks.named("test", (_, failure) -> reported.add(failure))) {
      var git = new Git(root, tasks);
      var started = new CountDownLatch(1);
      var running =
          tasks.fork(
              "git",
              () ->
                  git.stream(
                      List.of("hash-object", "silent"),
                      _ -> started.countDown(),
                      from -> from.readAllBytes()));
      started.await();

      running.cancel();

      assertThrows(InterruptedException.class, running::get);
    }
    assertEquals(List.of(), List.copyOf(reported));
  }
}
