package dev.gpush.backends.slurm.command;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.PipeAround;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A step's pipe, which tells whether the step was created. srun writes to the standard error, too:
 * that a command has failed, possibly in the middle of a line of it.
 */
final class StepPipe extends PipeAround {
  private static final Pattern NO_STEP =
      Pattern.compile(
          "srun: .*(?:Unable to create step|Unable to confirm allocation|Socket timed out|Unable to"
              + " contact slurm controller|Task launch for .* failed|Step limit reached)",
          Pattern.CASE_INSENSITIVE);

  /**
   * Around the pipe of a step.
   *
   * @param created called at the first output, which proves it
   * @param refused called when srun reports that it could not create the step
   */
  StepPipe(Pipe pipe, Runnable created, Runnable refused) {
    super(
        pipe,
        new Watched(pipe.output(), _ -> true, created),
        new Watched(pipe.errors(), text -> NO_STEP.matcher(text).find(), refused));
  }

  @Override
  public boolean holdsBack() {
    return true;
  }

  /** Calls once when a piece that is read proves something. */
  private static final class Watched extends FilterInputStream {
    private final Predicate<String> proof;
    private final Runnable call;
    private boolean isProven;

    Watched(InputStream from, Predicate<String> proof, Runnable call) {
      super(from);
      this.proof = proof;
      this.call = call;
    }

    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int count = super.read(target, offset, length);
      if (!isProven
          && count > 0
          && proof.test(new String(target, offset, count, StandardCharsets.ISO_8859_1))) {
        isProven = true;
        call.run();
      }
      return count;
    }
  }
}
