package dev.gpush.backends.transport;

import dev.gpush.core.backend.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;

/** A command on a machine: what was printed before it began is not its output. */
public final class MarkedPipe implements Pipe {
  private final Pipe pipe;
  private final MarkedInput output;
  private final MarkedInput errors;
  private final Runnable ended;
  private final AtomicBoolean over = new AtomicBoolean();

  /**
   * Around the pipe of a command whose text is {@link CommandText}.
   *
   * @param ended called once, when it is closed
   */
  public MarkedPipe(Pipe pipe, String marker, Runnable ended) {
    this.pipe = pipe;
    this.output = new MarkedInput(pipe.output(), marker);
    this.errors = new MarkedInput(pipe.errors(), marker);
    this.ended = ended;
  }

  @Override
  public OutputStream input() {
    return pipe.input();
  }

  @Override
  public InputStream output() {
    return output;
  }

  @Override
  public InputStream errors() {
    return errors;
  }

  @Override
  public int await() throws InterruptedException {
    return pipe.await();
  }

  @Override
  public void close() throws IOException {
    try {
      pipe.close();
    } finally {
      if (over.compareAndSet(false, true)) {
        ended.run();
      }
    }
  }
}
