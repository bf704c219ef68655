package dev.gpush.backends.transport;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.PipeAround;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** A command on a machine: what was printed before it began is not its output. */
public final class MarkedPipe extends PipeAround {
  private final Runnable ended;
  private final AtomicBoolean over = new AtomicBoolean();

  /**
   * Around the pipe of a command whose text is {@link CommandText}.
   *
   * @param ended called once, when it is closed
   */
  public MarkedPipe(Pipe pipe, String marker, Runnable ended) {
    super(pipe, new MarkedInput(pipe.output(), marker), new MarkedInput(pipe.errors(), marker));
    this.ended = ended;
  }

  @Override
  public void close() throws IOException {
    try {
      super.close();
    } finally {
      if (over.compareAndSet(false, true)) {
        ended.run();
      }
    }
  }
}
