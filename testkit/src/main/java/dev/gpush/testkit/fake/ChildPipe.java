package dev.gpush.testkit.fake;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/** A process of this machine as a pipe: as a backend's spawn returns it. */
public record ChildPipe(Process process) implements Pipe {
  /** In a home without startup files. */
  public static ChildPipe start(List<String> command) throws IOException {
    var builder = new ProcessBuilder(command);
    builder.environment().put("HOME", System.getProperty("java.io.tmpdir"));
    return new ChildPipe(builder.start());
  }

  /** With exactly this environment; the program is found on the PATH of this process. */
  public static ChildPipe start(List<String> command, Map<String, String> environment)
      throws IOException {
    var builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(environment);
    return new ChildPipe(builder.start());
  }

  public long pid() {
    return process.pid();
  }

  @Override
  public OutputStream input() {
    return process.getOutputStream();
  }

  @Override
  public InputStream output() {
    return process.getInputStream();
  }

  @Override
  public InputStream errors() {
    return process.getErrorStream();
  }

  @Override
  public int await() throws InterruptedException {
    return process.waitFor();
  }

  /** Ends the process first: closing a stream waits for a thread that writes to it. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    try {
      process.getOutputStream().close();
    } catch (IOException brokenPipe) {
      // The bytes that could not be flushed have no reader.
    }
    process.getInputStream().close();
    process.getErrorStream().close();
  }
}
