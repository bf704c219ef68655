package dev.gpush.link.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TailTest {
  private static ByteArrayInputStream of(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void keepsTheEndOfWhatWasRead() {
    var random = new Random(1);
    var text = new StringBuilder();
    while (text.length() < 200_000) {
      var tail = new Tail();
      tail.readAll(of(text.toString()), () -> {});
      int kept = Math.min(text.length(), 64 << 10);
      assertEquals(text.substring(text.length() - kept), tail.text());
      text.append(Long.toString(random.nextLong(), 36).repeat(1 + random.nextInt(700)));
    }
  }

  @Test
  void readsToTheMarkAndNoFurther() throws IOException {
    byte[] mark = "mark\n".getBytes(StandardCharsets.US_ASCII);
    ByteArrayInputStream input = of("noise mar\n".repeat(20_000) + "mark\nrest");

    assertTrue(new Tail().readTo(input, mark));

    assertEquals("rest", new String(input.readAllBytes(), StandardCharsets.US_ASCII));
    assertFalse(new Tail().readTo(of("mar"), mark));
  }
}
