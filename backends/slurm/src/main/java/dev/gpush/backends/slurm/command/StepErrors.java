package dev.gpush.backends.slurm.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The standard error of a step. srun writes there too: that a task has failed, which the exit
 * status has already, possibly in the middle of a line of the command. That sentence is removed;
 * everything else is passed on unchanged, as soon as it cannot be a part of it.
 */
final class StepErrors extends InputStream {
  private static final byte[] BEGIN = "srun: error: ".getBytes(StandardCharsets.US_ASCII);

  /** How long srun's sentence may be, with a list of nodes in it. */
  private static final int MOST = 512;

  private static final Pattern TASK_ENDED =
      Pattern.compile(
          "srun: error: [^\\n"
              + "]{1,300}: tasks? [0-9,\\[\\]-]+: (?:Exited with exit code [0-9]+|[A-Z][A-Za-z"
              + " ]{2,40}(?: \\(core dumped\\))?)\\n");

  private static final Pattern NO_STEP =
      Pattern.compile(
          "Unable to create step|Unable to confirm allocation|Socket timed out|Unable to contact"
              + " slurm controller|Task launch for .* failed|Step limit reached",
          Pattern.CASE_INSENSITIVE);

  private final InputStream from;
  private final Runnable noStep;
  private final byte[] in = new byte[8 * 1024];
  private byte[] out = new byte[0];
  private int given;
  private byte[] held = new byte[0];
  private boolean isOver;

  /**
   * @param noStep called when srun reports that it could not create a step
   */
  StepErrors(InputStream from, Runnable noStep) {
    this.from = from;
    this.noStep = noStep;
  }

  @Override
  public int read() throws IOException {
    var one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    while (given == out.length) {
      if (isOver) {
        return -1;
      }
      fill();
    }
    int count = Math.min(length, out.length - given);
    System.arraycopy(out, given, target, offset, count);
    given += count;
    return count;
  }

  @Override
  public void close() throws IOException {
    from.close();
  }

  private void fill() throws IOException {
    int count = from.read(in);
    isOver = count < 0;
    byte[] all = Arrays.copyOf(held, held.length + Math.max(0, count));
    System.arraycopy(in, 0, all, held.length, Math.max(0, count));
    // One character for each byte, so that binary data is unchanged.
    String text = new String(all, StandardCharsets.ISO_8859_1);
    if (text.contains("srun: ") && NO_STEP.matcher(text).find()) {
      noStep.run();
    }
    Matcher ended = TASK_ENDED.matcher(text);
    byte[] kept = ended.replaceAll("").getBytes(StandardCharsets.ISO_8859_1);
    int hold = isOver ? 0 : held(kept);
    out = Arrays.copyOf(kept, kept.length - hold);
    held = Arrays.copyOfRange(kept, kept.length - hold, kept.length);
    given = 0;
  }

  /** How many bytes at the end may be the start of srun's sentence. */
  private static int held(byte[] bytes) {
    for (int from = Math.max(0, bytes.length - MOST); from < bytes.length; from++) {
      int size = Math.min(BEGIN.length, bytes.length - from);
      if (Arrays.equals(bytes, from, from + size, BEGIN, 0, size) && notEnded(bytes, from)) {
        return bytes.length - from;
      }
    }
    return 0;
  }

  private static boolean notEnded(byte[] bytes, int from) {
    for (int at = from; at < bytes.length; at++) {
      if (bytes[at] == '\n') {
        return false;
      }
    }
    return true;
  }
}
