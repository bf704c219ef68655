package dev.gpush.testkit.contract;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.task.Tasks;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What a command has done; one character per byte. */
public record Ended(String output, String errors, int status) {
  static byte[] bytes(String stream) {
    return stream.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Feeds a command, and reads both its streams to their ends at the same time. */
  public static Ended of(Pipe pipe, byte[] input) throws Exception {
    long limit = BackendContract.LIMIT.toSeconds();
    try (pipe;
        Tasks tasks = Tasks.named("run", (_, _) -> {})) {
      Future<byte[]> output = tasks.fork("output", () -> pipe.output().readAllBytes());
      Future<byte[]> errors = tasks.fork("errors", () -> pipe.errors().readAllBytes());
      Future<Boolean> fed =
          tasks.fork(
              "input",
              () -> {
                try (var stdin = pipe.input()) {
                  stdin.write(input);
                }
                return true;
              });
      fed.get(limit, TimeUnit.SECONDS);
      return new Ended(
          new String(output.get(limit, TimeUnit.SECONDS), StandardCharsets.ISO_8859_1),
          new String(errors.get(limit, TimeUnit.SECONDS), StandardCharsets.ISO_8859_1),
          pipe.await());
    }
  }
}
