package dev.gpush.testkit.fake;

import dev.gpush.core.backend.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A process of this machine as a pipe. */
record ProcessPipe(Process process) implements Pipe {
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
