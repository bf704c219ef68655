package dev.gpush.core.machine;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A process of this machine as a pipe. */
public record ProcessPipe(Process process) implements Pipe {
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

  /**
   * Ends the process first: closing a stream waits for a thread that writes to it. A relay is only
   * a relay: ending it at once loses nothing, all state is in the agent.
   */
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
