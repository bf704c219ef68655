package dev.gpush.core.session;

import dev.gpush.core.backend.GpuRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code up} asks; what is empty comes from the configuration, then from what this folder used
 * last.
 *
 * @param name -s NAME or $GPUSH_SESSION; empty: the folder's session, or the first free of devbox,
 *     devbox2 …
 * @param folder where the client stands
 * @param environment the client's variables (a local gang takes PATH and the like from here)
 * @param natives options for Slurm's sbatch as they are; other places have no use for them
 * @param attach what runs already and is to be borrowed, such as {@code job/train}
 * @param replace give back a session of the same name that differs, then make the new one
 * @param discard also what exists only on the nodes of a session that is replaced, and its runs
 * @param attachOnly do not compare: any session of this folder will do ({@code run} without --nodes
 *     or --gpus)
 */
public record UpRequest(
    Optional<SessionName> name,
    Path folder,
    Optional<String> backend,
    Optional<Integer> nodes,
    Optional<GpuRequest> gpus,
    Optional<Duration> hardEnd,
    Optional<Duration> idle,
    Optional<String> python,
    Map<String, String> environment,
    boolean replace,
    boolean attachOnly,
    boolean dryRun,
    boolean discard,
    List<String> natives,
    Optional<String> attach) {
  public UpRequest {
    environment = Map.copyOf(environment);
    natives = List.copyOf(natives);
  }
}
