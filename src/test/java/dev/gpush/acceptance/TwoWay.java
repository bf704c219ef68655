package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Bytes to a node and back through one ssh client, while the pipe beneath is cut many times. */
final class TwoWay {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");
  private static final int CUTS = Integer.getInteger("gpush.cuts", LONG ? 100 : 5);
  private static final int MEGABYTES = LONG ? 1_024 : 64;

  private TwoWay() {}

  /**
   * On a session devbox that is up: every byte arrives, and the status too.
   *
   * @param cut breaks the pipes to node 0; false where there is none to break
   */
  static void losesNothing(World world, BooleanSupplier cut) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("TwoWay seed " + seed + ", " + CUTS + " cuts (-Dgpush.seed, -Dgpush.cuts)");
    long calm = transfer(world, seed, 0, cut);
    long broken = transfer(world, seed, CUTS, cut);
    double ratio = (double) broken / calm;
    System.err.printf(
        "TwoWay %d MB both ways: %d ms undisturbed, %d ms with %d cuts, ratio %.2f%n",
        MEGABYTES, calm, broken, CUTS, ratio);
    assertTrue(!LONG || ratio <= 2, "ratio " + ratio);
  }

  /**
   * Through {@code cat} on the node and back; milliseconds. Who cuts asks gpush nothing meanwhile:
   * the start of a client costs more than a cut.
   */
  private static long transfer(World world, long seed, int cuts, BooleanSupplier cut)
      throws Exception {
    long begin = System.nanoTime();
    long size = (long) MEGABYTES << 20;
    Process cat = world.start(world.project(), world.ssh("devbox", "cat; exit 7"));
    var sent =
        CompletableFuture.supplyAsync(
            () -> feed(cat.getOutputStream(), size, seed), task -> Thread.ofVirtual().start(task));
    var chance = new Random(seed);
    var digest = MessageDigest.getInstance("SHA-256");
    int done = 0;
    long received = 0;
    try (var input = new DigestInputStream(cat.getInputStream(), digest)) {
      var piece = new byte[64 << 10];
      long next = place(size, done, cuts, chance);
      for (int count = input.read(piece); count >= 0; count = input.read(piece)) {
        received += count;
        if (done < cuts && received >= next) {
          World.until("a pipe to cut", cut::getAsBoolean);
          done++;
          next = place(size, done, cuts, chance);
        }
      }
    }
    assertEquals(size, received);
    assertEquals(cuts, done);
    assertArrayEquals(sent.get(), digest.digest());
    assertEquals(7, cat.waitFor());
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
  }

  private static long place(long size, int done, int cuts, Random chance) {
    long part = size / (cuts + 1);
    return part * done + 1 + (long) (chance.nextDouble() * part);
  }

  private static byte[] feed(OutputStream to, long size, long seed) {
    try (to) {
      var digest = MessageDigest.getInstance("SHA-256");
      var random = new Random(seed);
      var piece = new byte[64 << 10];
      for (long left = size; left > 0; left -= piece.length) {
        random.nextBytes(piece);
        digest.update(piece);
        to.write(piece);
      }
      return digest.digest();
    } catch (IOException | java.security.NoSuchAlgorithmException broken) {
      throw new IllegalStateException(broken);
    }
  }
}
