package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/** A pipe to a local process, as the local backend has one. */
final class ProcessPipe implements Pipe {
  private final Process process;

  ProcessPipe(List<String> command) throws IOException {
    this.process = new ProcessBuilder(command).start();
  }

  long pid() {
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

  /** The process first: closing a stream waits for whoever writes to it. */
  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    process.getOutputStream().close();
    process.getInputStream().close();
    process.getErrorStream().close();
  }
}
