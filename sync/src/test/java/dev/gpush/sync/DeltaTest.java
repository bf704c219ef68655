package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of a changed file only the change travels, to the real node side. */
@Execution(ExecutionMode.CONCURRENT)
class DeltaTest extends SyncFixture {
  private static final long SEED = Long.getLong("gpush.seed", System.nanoTime());
  private static final int ROUNDS =
      Integer.getInteger("gpush.rounds", Boolean.getBoolean("gpush.long") ? 2000 : 20);

  private static byte[] noise(Random random, int length) {
    var bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** One to four pieces are replaced, taken out, put in, or moved. */
  private static byte[] edited(byte[] before, Random random) {
    byte[] bytes = before;
    for (int i = random.nextInt(4); i >= 0; i--) {
      int from = random.nextInt(bytes.length + 1);
      int to = from + random.nextInt(Math.min(3000, bytes.length - from + 1));
      byte[] piece =
          switch (random.nextInt(4)) {
            case 0 -> noise(random, to - from);
            case 1 -> new byte[0];
            case 2 -> Arrays.copyOfRange(bytes, 0, Math.min(bytes.length, random.nextInt(9000)));
            default -> noise(random, 1 + random.nextInt(40));
          };
      var next = new byte[from + piece.length + bytes.length - to];
      System.arraycopy(bytes, 0, next, 0, from);
      System.arraycopy(piece, 0, next, from, piece.length);
      System.arraycopy(bytes, to, next, from + piece.length, bytes.length - to);
      bytes = next;
    }
    return bytes;
  }

  private void assertEqualTrees() throws Exception {
    for (FakeNode node : nodes) {
      assertEquals(laptop.tree(), node.folder().tree());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void anyEditArrivesAsItIs(int count) throws Exception {
    System.err.println("DeltaTest seed " + SEED + ", " + ROUNDS + " rounds (-Dgpush.seed)");
    var random = new Random(SEED + count);
    nodes(count);
    var files = new ArrayList<byte[]>();
    for (int size : new int[] {0, 300, 4096, 5000, 70_000, 600_000}) {
      files.add(noise(random, size));
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < files.size(); i++) {
        if (round > 0) {
          files.set(i, edited(files.get(i), random));
        }
        laptop.write("f" + i, files.get(i));
      }
      push();
      assertEqualTrees();
    }
  }

  /** Text, as code is, and a change of one line in each file: as after a checkout. */
  @Test
  void theWayThereAndBackCostsLittle() throws Exception {
    nodes(2);
    var random = new Random(1);
    List<String> texts =
        IntStream.range(0, 100)
            .mapToObj(
                file ->
                    IntStream.range(0, 500)
                        .mapToObj(line -> "value_" + file + "_" + line + " = " + random.nextInt())
                        .collect(Collectors.joining("\n")))
            .toList();
    for (int i = 0; i < texts.size(); i++) {
      laptop.write("f" + i, texts.get(i));
    }
    long first = traffic(this::push);

    for (int i = 0; i < texts.size(); i++) {
      laptop.write("f" + i, texts.get(i).replace("_250 =", "_changed ="));
    }
    long there = traffic(this::push);
    for (int i = 0; i < texts.size(); i++) {
      laptop.write("f" + i, texts.get(i));
    }
    long back = traffic(this::push);

    assertTrue(there < first / 8 && back < first / 8, first + ", " + there + ", " + back);
    assertEqualTrees();
  }

  @Test
  void aSmallFileTravelsWhole() throws Exception {
    nodes(1);
    laptop.write("a.py", "print(1)\n");
    push();
    laptop.write("a.py", "print(2)\n");
    push();

    assertEquals(
        "print(2)\n",
        new String(
            Files.readAllBytes(nodes.getFirst().folder().path().resolve("a.py")),
            StandardCharsets.UTF_8));
  }
}
