package dev.gpush.core.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HostRangeTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          h1                  | h1
          gpu[01-02,07].lab   | gpu01.lab gpu02.lab gpu07.lab
          ann@r[1]n[8-10]:22  | ann@r1n8:22 ann@r1n9:22 ann@r1n10:22
          r[1-2]n[03-04]      | r1n03 r1n04 r2n03 r2n04
          [fe80::1]:22        | [fe80::1]:22
          n[a-b]              | n[a-b]
          n[1                 | n[1
          """)
  void writesRangesOut(String text, String names) {
    assertEquals(names, String.join(" ", HostRange.expand(text, 100)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"h[5-1]", "h[0-100]", "h[1-50,101-151]", "a[1-99]b[1-99]", "h[1-9999999999]"})
  void refusesTooManyAndBackwards(String text) {
    assertThrows(IllegalArgumentException.class, () -> HostRange.expand(text, 100));
  }

  @Test
  void aRangeHasAllItsNumbersWithTheirZeros() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("HostRangeTest: gpush.seed=" + seed);
    var random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      int first = random.nextInt(1200);
      int last = first + random.nextInt(100);
      String format = "%0" + (1 + random.nextInt(5)) + "d";
      var expected = new StringBuilder();
      for (int number = first; number <= last; number++) {
        expected.append('n').append(format.formatted(number)).append(' ');
      }

      String text = "n[" + format.formatted(first) + "-" + format.formatted(last) + "]";

      assertEquals(
          expected.toString().strip(), String.join(" ", HostRange.expand(text, 100)), text);
    }
  }
}
