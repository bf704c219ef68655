package dev.gpush.core.config;

import dev.gpush.core.failure.UsageFailure.BadLine;
import dev.gpush.core.gang.GpuRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A task of SkyPilot as a run of gpush.
 *
 * @param words what each node runs
 * @param variables those that the file gives a value
 * @param missing the variables that need a value, each with its line
 * @param unused what has no effect, each with the reason
 */
public record TaskFile(
    Optional<Integer> nodes,
    Optional<GpuRequest> gpus,
    List<String> words,
    Map<String, String> variables,
    Map<String, BadLine> missing,
    List<String> unused) {
  public TaskFile {
    words = List.copyOf(words);
    variables = Map.copyOf(variables);
    missing = Map.copyOf(missing);
    unused = List.copyOf(unused);
  }
}
