package dev.gpush.sync.delta;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SignaturesTest {
  private final Signatures signatures = new Signatures();

  @Test
  void thoseNotUsedForTheLongestTimeAreForgotten() {
    int large = Signature.MOST_BLOCKS;
    int fit = Signatures.MOST_BLOCKS / large;
    for (int i = 0; i < fit; i++) {
      signatures.put("file" + i, new Signature(1, new long[large]));
    }
    assertTrue(signatures.of("file0").isPresent());

    signatures.put("one more", new Signature(1, new long[1]));

    assertTrue(signatures.of("file0").isPresent());
    assertEquals(Optional.empty(), signatures.of("file1"));
    assertTrue(signatures.of("file2").isPresent());
    assertTrue(signatures.of("one more").isPresent());
  }
}
