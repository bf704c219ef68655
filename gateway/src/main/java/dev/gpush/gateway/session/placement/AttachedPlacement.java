package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.session.UpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code up --attach}: the number of nodes and their GPUs are found out, not requested. */
public final class AttachedPlacement {
  private final RequestBuilder requests;

  public AttachedPlacement(RequestBuilder requests) {
    this.requests = requests;
  }

  /** The request unchanged, if nothing is borrowed. */
  public ResolvedUp of(UpRequest request, Config config, ResolvedUp wish) {
    return request.wanted().attach().map(name -> found(name, config, wish)).orElse(wish);
  }

  /** The first backend that has it; backends without pods answer nothing. */
  private ResolvedUp found(String name, Config config, ResolvedUp wish) {
    List<Backend> candidates = requests.candidates(config, wish);
    var refusals = new ArrayList<BackendFailure.Refusal>();
    for (Backend backend : candidates) {
      try {
        Optional<Loan> loan = backend.capabilities().lending().map(port -> port.lend(name));
        if (loan.isPresent()) {
          return wish.borrowing(backend.name(), loan.get(), name);
        }
      } catch (GpushException failed) {
        refusals.add(new BackendFailure.Refusal(backend.name(), failed.failure()));
      }
    }
    if (refusals.isEmpty()) {
      String first = candidates.getFirst().name();
      throw new GpushException(
          new BackendFailure.NeverFits(
              first,
              "only a Kubernetes backend has pods to attach to",
              config.backends().stream()
                  .filter(each -> each.kind().equals("kubernetes"))
                  .map(each -> "--backend " + each.name())
                  .toList()));
    }
    throw Placement.nowhere(refusals);
  }
}
