package dev.gpush.backends.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DestinationTest {
  @Test
  void aDestinationIsReadAndWritten() {
    assertEquals(
        new Destination("h1", Optional.empty(), Optional.empty()), Destination.parse("h1"));
    assertEquals(
        new Destination("gpu01.lab", Optional.of("ann"), Optional.of(2222)),
        Destination.parse("ann@gpu01.lab:2222"));
    assertEquals(
        new Destination("fe80::1%eth0", Optional.empty(), Optional.of(22)),
        Destination.parse("[fe80::1%eth0]:22"));
    for (String text : new String[] {"h1", "ann@h1", "h1:2222", "a@b.c:1", "[::1]:22", "[::1]"}) {
      assertEquals(text, Destination.parse(text).toString());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-oProxyCommand=id",
        "a b",
        "a:b:c:d@",
        "@h",
        "h:",
        "h:0",
        "h:70000",
        "-u@h",
        "a\nb",
        "h;id",
        "$(id)"
      })
  void whatIsNoDestinationIsRefused(String text) {
    assertThrows(IllegalArgumentException.class, () -> Destination.parse(text));
  }
}
