package dev.gpush.backends.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GpuInventoryTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NVIDIA H100 80GB HBM3 | H100",
        "NVIDIA A100-SXM4-80GB | A100",
        "Tesla T4 | T4",
        "NVIDIA GeForce RTX 4090 | RTX-4090",
        "NVIDIA RTX A6000 | RTX-A6000",
        "NVIDIA L40S | L40S",
        "NVIDIA GH200 480GB | GH200",
        "Quadro P5000 | P5000",
      })
  void modelsAreCalledAsPeopleSay(String name, String model) {
    assertEquals(
        List.of(new Gpu("3", "GPU-8a56", model)),
        GpuInventory.parseNvidia("3, GPU-8a56, " + name + "\n"));
  }

  @Test
  void whatIsNoGpuIsPassedOver() {
    assertEquals(
        List.of(new Gpu("1", "GPU-b", "T4")),
        GpuInventory.parseNvidia(
            """
            No devices were found
            x, GPU-a, Tesla T4
            0, ../../etc/passwd, Tesla T4
            0, .., Tesla T4
            0, GPU-a
            1, GPU-b, Tesla T4
            """));
    assertEquals(
        List.of(new Gpu("0", "0x1a2b", "AMD"), new Gpu("1", "0x3c", "AMD")),
        GpuInventory.parseRocm("device,Unique ID\ncard0,0x1a2b\ncard1,0x3c\ncardX,0x4\n"));
  }

  @Test
  void noiseGivesOnlyNamesThatAreSafeInAPath() {
    long seed = new Random().nextLong();
    System.out.println("GpuInventoryTest: seed " + seed);
    var random = new Random(seed);
    String letters = "0123, GPU-/.\n\tcard é\0T4,";
    for (int round = 0; round < 2000; round++) {
      var noise = new StringBuilder();
      for (int i = random.nextInt(60); i > 0; i--) {
        noise.append(letters.charAt(random.nextInt(letters.length())));
      }
      for (Gpu gpu : GpuInventory.parseNvidia(noise.toString())) {
        assertTrue(gpu.identity().matches("[A-Za-z0-9_-][A-Za-z0-9._-]*"), () -> "seed " + seed);
        assertTrue(gpu.model().matches("[A-Z0-9_.-]*"), () -> "seed " + seed);
      }
      GpuInventory.parseRocm(noise.toString());
    }
  }
}
