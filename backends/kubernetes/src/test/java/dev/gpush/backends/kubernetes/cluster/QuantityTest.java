package dev.gpush.backends.kubernetes.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class QuantityTest {
  @ParameterizedTest
  @CsvSource({
    "2, 2",
    "1500m, 2",
    "24581696Ki, 25171656704",
    "1Gi, 1073741824",
    "1e3, 1000",
    "1E, 1000000000000000000",
    "0.5, 1",
    "99999999999999999E, 9223372036854775807",
    "-1, -1"
  })
  void readsQuantities(String text, long whole) {
    assertEquals(Optional.of(whole), Quantity.whole(text));
  }

  @Test
  void anyTextIsAQuantityOrNone() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("QuantityTest.anyTextIsAQuantityOrNone: gpush.seed=" + seed);
    var random = new Random(seed);
    String letters = "0123456789.eEmMkKiIGTP+-nu ";
    for (int round = 0; round < 5000; round++) {
      var text = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        text.append(letters.charAt(random.nextInt(letters.length())));
      }
      Optional<Long> whole = Quantity.whole(text.toString());
      assertEquals(whole.isPresent(), Quantity.millis(text.toString()).isPresent());
    }
    assertEquals(Optional.of(1500L), Quantity.millis("1.5"));
    assertEquals(Optional.empty(), Quantity.whole(""));
    assertEquals(Optional.empty(), Quantity.whole("Gi"));
    assertEquals(Optional.empty(), Quantity.whole("1e999999999"));
    assertEquals(Optional.empty(), Quantity.whole("1e-999999999"));
    assertEquals(Optional.empty(), Quantity.whole("1".repeat(10_000)));
  }
}
