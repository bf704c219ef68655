package dev.gpush.core.gang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.GpushException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GpuRequestTest {
  @ParameterizedTest
  @CsvSource({
    "H100:8,H100:8",
    "8,8",
    "H100,H100:1",
    "0,cpu",
    "a100_80gb:4,a100_80gb:4",
    "3090:8,3090:8",
    "2080ti:8,2080ti:8"
  })
  void readsWhatPeopleWrite(String text, String shown) {
    assertEquals(shown, GpuRequest.parse(text).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ":8",
        "H100:",
        "-1",
        "H100:x",
        "8:H100",
        "1025",
        "H100:99999",
        "H100:0",
        "H 100"
      })
  void refusesTheRest(String text) {
    assertThrows(GpushException.class, () -> GpuRequest.parse(text));
  }

  private static NodeInfo node(String model, int slots) {
    List<String> names = IntStream.range(0, slots).mapToObj(Integer::toString).toList();
    return new NodeInfo(0, "gpu1", "gpu1", names, model, 8, "/work/project");
  }

  @Test
  void whatWasGivenIsShownWhereNoModelWasAsked() {
    assertEquals("H100:2", GpuRequest.of(node("H100", 2)).toString());
    assertEquals(
        "NVIDIA-H100-80GB-HBM3:1", GpuRequest.of(node("NVIDIA H100 80GB HBM3", 1)).toString());
    assertEquals("4090:1", GpuRequest.of(node("4090", 1)).toString());
    assertEquals("cpu", GpuRequest.of(node("", 1)).toString());
    assertEquals("H100:2", GpuRequest.parse("2").as(node("H100", 2)).toString());
    assertEquals("A100:2", GpuRequest.parse("A100:2").as(node("a100_80gb", 2)).toString());
    assertEquals("cpu", GpuRequest.none().as(node("H100", 2)).toString());
  }
}
