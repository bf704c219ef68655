package dev.gpush.backends.hosts.local;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A child process as a pipe. */
final class ProcessPipe implements Pipe {
  private final Process process;

  ProcessPipe(Process process) {
    this.process = process;
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

  /** A relay is only a relay: ending it at once loses nothing, all state is in the agent. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    try {
      process.getOutputStream().close();
    } catch (IOException brokenPipe) {
      // What could not be flushed has no reader any more.
    }
    process.getInputStream().close();
    process.getErrorStream().close();
  }
}
