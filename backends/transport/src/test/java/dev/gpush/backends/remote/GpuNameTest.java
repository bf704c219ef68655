package dev.gpush.backends.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GpuNameTest {
  @ParameterizedTest(name = "{0} in {1}")
  @CsvSource({
    "H100,h100,true",
    "H100,nvidia_h100_80gb_hbm3,true",
    "h100,h100-sxm,true",
    "A100-80GB,nvidia_a100_80gb,true",
    "A100-80GB,nvidia_a100_40gb,false",
    "A10,a100,false",
    "H100,gpu-h100,true",
    "H200,h100,false",
  })
  void namesOfGpus(String wanted, String name, boolean isWithin) {
    assertEquals(isWithin, new GpuName(wanted).isWithin(name));
  }

  @ParameterizedTest
  @CsvSource({
    "NVIDIA-H100-80GB-HBM3, H100, true",
    "NVIDIA-H100-80GB-HBM3, h100-80gb, true",
    "NVIDIA-H100-80GB-HBM3, H10, false",
    "NVIDIA-A100-SXM4-80GB, A100_SXM4, true",
    "nvidia-l4, L4, true",
    "nvidia-l4, L40, false",
    "Tesla-T4, t4, true"
  })
  void findsAModelInWhatALabelSays(String value, String model, boolean is) {
    assertEquals(is, new GpuName(model).isNamedBy(value));
  }

  @ParameterizedTest
  @CsvSource({
    "NVIDIA-H100-80GB-HBM3, H100",
    "NVIDIA-GB200, GB200",
    "nvidia-tesla-t4, T4",
    "AMD_Instinct_MI300X_OAM, MI300X",
    "L40S, L40S",
    "something, something"
  })
  void callsThemAsPeopleDo(String product, String word) {
    assertEquals(word, GpuName.ofLabel(product));
  }
}
