package dev.gpush.backends.slurm;

import dev.gpush.core.backend.Pipe;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A step's pipe, without what srun itself says about a command that ended badly. */
final class StepPipe implements Pipe {
  private final Pipe pipe;
  private final InputStream output;
  private final InputStream errors;

  StepPipe(Pipe pipe, Steps steps) {
    this.pipe = pipe;
    this.output = new Watched(pipe.output(), steps);
    this.errors = new StepErrors(pipe.errors(), steps::failed);
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
    pipe.close();
  }

  /** What comes out of a step shows that there is one. */
  private static final class Watched extends FilterInputStream {
    private final Steps steps;
    private boolean isKnown;

    Watched(InputStream output, Steps steps) {
      super(output);
      this.steps = steps;
    }

    @Override
    public int read() throws IOException {
      return seen(super.read());
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return seen(super.read(target, offset, length));
    }

    private int seen(int read) {
      if (read >= 0 && !isKnown) {
        isKnown = true;
        steps.succeeded();
      }
      return read;
    }
  }
}
