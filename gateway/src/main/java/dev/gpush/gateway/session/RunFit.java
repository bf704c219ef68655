package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.session.SessionView;
import dev.gpush.gateway.session.live.LiveSession;
import java.util.ArrayList;
import java.util.List;

/** Whether a session that is there has what a run claims. */
final class RunFit {
  private RunFit() {}

  /**
   * Fails if the session lacks something.
   *
   * @throws GpushException with {@code Differs}
   */
  static void require(LiveSession session, RunTarget target, RunRequest.Claim claim) {
    List<SessionFailure.Difference> lacking =
        lacking(SessionViews.place(session.entry()), target, claim);
    if (!lacking.isEmpty()) {
      throw new GpushException(new SessionFailure.Differs(session.name().text(), lacking));
    }
  }

  /** A run uses a part of the session, never more. */
  private static List<SessionFailure.Difference> lacking(
      SessionView.Place has, RunTarget target, RunRequest.Claim claim) {
    var lacking = new ArrayList<SessionFailure.Difference>();
    claim
        .nodes()
        .filter(asked -> asked > has.size())
        .ifPresent(asked -> lacking.add(difference("nodes", has.size(), asked)));
    claim
        .gpus()
        .filter(asked -> exceeds(asked, has.gpus()))
        .ifPresent(asked -> lacking.add(difference("gpus", has.gpus(), asked)));
    target
        .backend()
        .filter(asked -> !asked.equals(has.backend()))
        .ifPresent(asked -> lacking.add(difference("backend", has.backend(), asked)));
    return lacking;
  }

  private static boolean exceeds(GpuRequest asked, GpuRequest there) {
    boolean otherModel =
        asked.model().isPresent()
            && there.model().isPresent()
            && !asked.model().get().equalsIgnoreCase(there.model().get());
    return !asked.isNone() && (otherModel || asked.count() > there.count());
  }

  private static SessionFailure.Difference difference(String what, Object has, Object asked) {
    return new SessionFailure.Difference(what, has.toString(), asked.toString());
  }
}
