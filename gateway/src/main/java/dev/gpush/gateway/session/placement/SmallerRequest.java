package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.Outlook.Smaller;
import java.util.Optional;
import java.util.function.IntPredicate;

/**
 * The largest part of a request that would be granted now: fewer nodes, else fewer GPUs on each.
 */
final class SmallerRequest {
  private SmallerRequest() {}

  /** Empty when there is none, or the backend cannot be asked any more. */
  static Optional<Smaller> of(Backend backend, GangRequest request) {
    GpuRequest gpus = request.gpus();
    try {
      int nodes = largest(request.nodes(), fewer -> isGranted(backend, request.sized(fewer, gpus)));
      if (nodes > 0) {
        return Optional.of(new Smaller(nodes, gpus));
      }
      int each =
          largest(
              gpus.count(),
              fewer ->
                  isGranted(
                      backend,
                      request.sized(request.nodes(), new GpuRequest(gpus.model(), fewer))));
      return each > 0
          ? Optional.of(new Smaller(request.nodes(), new GpuRequest(gpus.model(), each)))
          : Optional.empty();
    } catch (GpushException silent) {
      return Optional.empty();
    }
  }

  private static boolean isGranted(Backend backend, GangRequest request) {
    return backend.plan(request) instanceof Plan.Now;
  }

  /** The largest number below this one that fits, 0 if none does. What fits, fits with less. */
  private static int largest(int tooMany, IntPredicate fits) {
    int fitting = 0;
    int not = tooMany;
    while (not - fitting > 1) {
      int middle = (fitting + not) / 2;
      if (fits.test(middle)) {
        fitting = middle;
      } else {
        not = middle;
      }
    }
    return fitting;
  }
}
