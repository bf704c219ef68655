package dev.gpush.core.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.GpushException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GpuRequestTest {
  @ParameterizedTest
  @CsvSource({"H100:8,H100:8", "8,8", "H100,H100:1", "0,cpu", "a100_80gb:4,a100_80gb:4"})
  void readsWhatPeopleWrite(String text, String shown) {
    assertEquals(shown, GpuRequest.parse(text).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ":8", "H100:", "-1", "H100:x", "8:H100", "1025", "H100:99999", "H 100"})
  void refusesTheRest(String text) {
    assertThrows(GpushException.class, () -> GpuRequest.parse(text));
  }
}
