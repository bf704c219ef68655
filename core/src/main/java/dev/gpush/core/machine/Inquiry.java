package dev.gpush.core.machine;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Runs small programs of a machine for what they print; they may hang, or print without end. */
public final class Inquiry {
  /** Of each stream; more is read and dropped. A queue of ten thousand jobs fits. */
  private static final int MOST_OUTPUT = 8 * 1024 * 1024;

  private final Machine machine;
  private final Tasks tasks;

  public Inquiry(Machine machine, Tasks tasks) {
    this.machine = machine;
    this.tasks = tasks;
  }

  /** The result of a program that has ended. */
  public record Answer(int status, String output, String errors) {
    public boolean succeeded() {
      return status == 0;
    }
  }

  /**
   * Runs it to its end.
   *
   * @param input what it reads, then end of file
   * @throws IOException when it cannot be started, or the connection to it broke
   * @throws TimeoutException when it took too long; it may still have done its work
   */
  public Answer ask(List<String> arguments, String input, Duration limit)
      throws IOException, InterruptedException, TimeoutException {
    return tasks.within(limit, "ask-" + machine.name(), () -> ask(arguments, input));
  }

  private Answer ask(List<String> arguments, String input)
      throws IOException, InterruptedException {
    try (Pipe pipe = machine.spawn(arguments)) {
      List<Work<String, IOException>> streams =
          List.of(
              () -> give(pipe.input(), input),
              () -> take(pipe.output()),
              () -> take(pipe.errors()));
      List<String> said = tasks.all("ask-" + machine.name(), streams, pipe::close);
      return new Answer(pipe.await(), said.get(1), said.get(2));
    }
  }

  private static String give(OutputStream to, String input) {
    try (to) {
      to.write(input.getBytes(StandardCharsets.UTF_8));
    } catch (IOException notRead) {
      // A program may end without reading its input; its output and status count.
    }
    return "";
  }

  private static String take(InputStream from) throws IOException {
    var taken = new ByteArrayOutputStream();
    byte[] part = new byte[16 * 1024];
    for (int read = from.read(part); read >= 0; read = from.read(part)) {
      taken.write(part, 0, Math.min(read, MOST_OUTPUT - taken.size()));
    }
    return taken.toString(StandardCharsets.UTF_8);
  }
}
