package dev.gpush.testkit.contract;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The result of a command; one character per byte. */
public record Ended(String output, String errors, int status) {
  static byte[] bytes(String stream) {
    return stream.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Feeds a command, and reads both its streams to their ends at the same time. */
  public static Ended of(Pipe pipe, byte[] input) throws Exception {
    try (pipe;
        Tasks tasks = Tasks.named("run", (_, _) -> {})) {
      Task<byte[], IOException> output = tasks.fork("output", () -> pipe.output().readAllBytes());
      Task<byte[], IOException> errors = tasks.fork("errors", () -> pipe.errors().readAllBytes());
      Task<Boolean, IOException> fed =
          tasks.fork(
              "input",
              () -> {
                try (var stdin = pipe.input()) {
                  stdin.write(input);
                }
                return true;
              });
      fed.get(BackendContract.LIMIT);
      return new Ended(
          new String(output.get(BackendContract.LIMIT), StandardCharsets.ISO_8859_1),
          new String(errors.get(BackendContract.LIMIT), StandardCharsets.ISO_8859_1),
          pipe.await());
    }
  }
}
