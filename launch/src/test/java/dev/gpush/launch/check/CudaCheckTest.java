package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.fabric.FabricFinding;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CudaCheckTest {
  private static List<String> findings(String output, int slots) {
    return CudaCheck.judged(1, slots, output).stream().map(FabricFinding::what).toList();
  }

  @Test
  void gpusThatStartHaveNoFindings() {
    assertEquals(List.of(), findings("noise\n\ngpush-cuda {\"gpus\": [null, null]}\n", 2));
  }

  @Test
  void eachGpuThatDoesNotStartIsNamed() {
    assertEquals(
        List.of(
            "node 1, GPU 1: CUDA does not start: cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)"),
        findings(
            "gpush-cuda {\"gpus\": [null, \"cuCtxCreate: CUDA_ERROR_ECC_UNCORRECTABLE (214)\"]}",
            2));
  }

  @Test
  void gpusThatCudaDoesNotSeeAreCounted() {
    assertEquals(
        List.of("node 1: CUDA sees 1 of 2 GPUs"), findings("gpush-cuda {\"gpus\": [null]}", 2));
  }

  @Test
  void aDriverThatDoesNotStartIsNamed() {
    assertEquals(
        List.of("node 1: CUDA does not start: cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802)"),
        findings("gpush-cuda {\"error\": \"cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802)\"}", 2));
  }

  @Test
  void anAnswerThatIsNoneIsNotAFailureOfTheGpu() {
    assertEquals(
        List.of("node 1: CUDA was not started: the Python printed no answer"), findings("", 2));
    assertEquals(
        List.of("node 1: CUDA was not started: the answer of the Python was cut off"),
        findings("gpush-cuda {\"gpus\": [", 2));
  }
}
