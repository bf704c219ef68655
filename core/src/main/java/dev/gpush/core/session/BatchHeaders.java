package dev.gpush.core.session;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.task.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a batch script asks for, as {@link BatchScripts} reads it: options of gpush, options that
 * only the scheduler knows, and those that have no effect here.
 *
 * @param nodes how many; empty when the script does not say
 * @param tasks per node, as srun starts them; empty when the script does not say
 * @param natives passed to sbatch unchanged: {@code --account=lab}
 * @param unused what has no effect, each with the reason
 */
public record BatchHeaders(
    Optional<Integer> nodes,
    Optional<GpuRequest> gpus,
    Optional<Duration> time,
    Optional<Integer> tasks,
    List<String> natives,
    List<String> unused) {
  /** A script of this name is one, whatever is in it. */
  public static final String SUFFIX = ".sbatch";

  public BatchHeaders {
    natives = List.copyOf(natives);
    unused = List.copyOf(unused);
  }

  /** "--nodes 2 --gpus h100:8 --for 8h"; empty when none of them is an option of gpush. */
  public String words() {
    var words = new ArrayList<String>();
    nodes.ifPresent(count -> words.add("--nodes " + count));
    gpus.ifPresent(each -> words.add("--gpus " + each));
    time.ifPresent(limit -> words.add("--for " + DurationText.of(limit)));
    return String.join(" ", words);
  }
}
