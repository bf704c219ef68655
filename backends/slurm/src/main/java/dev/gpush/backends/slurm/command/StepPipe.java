package dev.gpush.backends.slurm.command;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.PipeAround;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** A step's pipe, without srun's own message about a command that failed. */
final class StepPipe extends PipeAround {
  StepPipe(Pipe pipe, Steps steps) {
    super(pipe, new Watched(pipe.output(), steps), new StepErrors(pipe.errors(), steps::failed));
  }

  @Override
  public boolean holdsBack() {
    return true;
  }

  /** Output of a step proves that it was created. */
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
