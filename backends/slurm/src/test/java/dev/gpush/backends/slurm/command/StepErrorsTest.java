package dev.gpush.backends.slurm.command;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class StepErrorsTest {
  private static final String ENDED =
      "srun: error: gpu[1-2]: tasks 0-1: Exited with exit code 94\n";

  private static String through(String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    try (var errors = new StepErrors(new ByteArrayInputStream(bytes), () -> {})) {
      return new String(errors.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  @Test
  void takesOutWhatTheStatusSaysAlready() throws IOException {
    assertEquals("a", through("a" + ENDED));
    assertEquals("a\nb", through("a\n" + ENDED + "b"));
    assertEquals("", through("srun: error: gpu2: task 1: Killed\n"));
    assertEquals("srun: error: Unable", through("srun: error: Unable"));
    String kept = "srun: error: Unable to create step for job 7: Access/permission denied\n";
    assertEquals(kept, through(kept));
  }

  @Test
  void tellsThatThereIsNoStep() throws IOException {
    var told = new AtomicInteger();
    String said = "srun: error: Unable to create step for job 7: Step limit reached for this job\n";

    try (var errors =
        new StepErrors(
            new ByteArrayInputStream(said.getBytes(StandardCharsets.UTF_8)),
            told::incrementAndGet)) {
      errors.readAllBytes();
    }

    assertEquals(1, told.get());
  }

  @Test
  void whateverPiecesItComesIn() throws IOException {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("StepErrorsTest: gpush.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 300; round++) {
      var noise = new byte[random.nextInt(3_000)];
      random.nextBytes(noise);
      var all = new ByteArrayOutputStream();
      int cut = noise.length == 0 ? 0 : random.nextInt(noise.length);
      all.write(noise, 0, cut);
      all.writeBytes("srun: err".getBytes(StandardCharsets.US_ASCII));
      all.write(noise, cut, noise.length - cut);
      byte[] expected = all.toByteArray();
      all.writeBytes(ENDED.getBytes(StandardCharsets.US_ASCII));

      try (var errors = new StepErrors(new Pieces(all.toByteArray(), random), () -> {})) {
        assertArrayEquals(expected, errors.readAllBytes());
      }
    }
  }

  /** Gives as few bytes as it likes. */
  private static final class Pieces extends InputStream {
    private final InputStream from;
    private final Random random;

    Pieces(byte[] bytes, Random random) {
      this.from = new ByteArrayInputStream(bytes);
      this.random = random;
    }

    @Override
    public int read() throws IOException {
      return from.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return from.read(target, offset, Math.min(length, 1 + random.nextInt(40)));
    }
  }
}
