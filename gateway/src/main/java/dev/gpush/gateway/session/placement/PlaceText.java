package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureClause;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.Outlook.Answer;
import dev.gpush.core.session.Outlook.Offer;
import dev.gpush.core.time.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Which backend and why, in one line: "on rack: free now; hpc would be ≈40m". */
public final class PlaceText {
  private PlaceText() {}

  /** Empty when there was no choice. */
  static String why(List<Offer> offers, List<Offer> taken) {
    if (offers.size() < 2 || taken.isEmpty()) {
      return "";
    }
    var parts = new ArrayList<String>();
    boolean isNow =
        PlaceChoice.plan(taken.getFirst()).filter(Plan.Now.class::isInstance).isPresent();
    if (isNow) {
      parts.add("on " + taken.getFirst().backend() + ": free now" + price(taken.getFirst()));
    } else {
      List<String> queues =
          taken.stream().map(each -> each.backend() + " (" + when(each) + ")").toList();
      parts.add(
          "queued on "
              + and(queues)
              + (queues.size() > 1 ? "; the first to provide all nodes is kept" : ""));
    }
    offers.stream()
        .filter(offer -> !taken.contains(offer))
        .map(PlaceText::other)
        .forEach(parts::add);
    return String.join("; ", parts);
  }

  private static String other(Offer offer) {
    return offer.backend()
        + switch (offer.answer()) {
          case Answer.Failed(var failure) -> " " + failed(failure);
          case Answer.Planned(Plan.Now _) -> " is also free" + price(offer);
          case Answer.Planned(Plan.Never(var reason, _)) -> " can never grant this: " + reason;
          case Answer.Planned(Plan.Later(var reason, var estimate, _)) ->
              !offer.hasQueue()
                  ? " has nothing free"
                  : estimate
                      .map(wait -> " would be " + about(wait))
                      .orElse(" would wait: " + reason);
        };
  }

  private static String when(Offer offer) {
    Optional<String> about =
        PlaceChoice.plan(offer)
            .flatMap(plan -> plan instanceof Plan.Later later ? later.estimate() : Optional.empty())
            .map(PlaceText::about);
    return about.orElse("no estimate") + price(offer);
  }

  private static String price(Offer offer) {
    return offer.price().map(hour -> String.format(Locale.ROOT, ", %.2f an hour", hour)).orElse("");
  }

  /** "≈40m", "≈3h20m"; at least a minute, because no estimate is more exact. */
  static String about(Duration wait) {
    Duration least = Duration.ofMinutes(1);
    return "≈" + DurationText.coarse(wait.compareTo(least) < 0 ? least : wait);
  }

  /** A failure as the rest of a sentence that begins with the backend's name. */
  public static String failed(Failure failure) {
    return switch (failure) {
      case MachineFailure.NeedsYou(_, var login, _) -> "needs you (gpush login " + login + ")";
      case MachineFailure.HostKeyUnknown(_, var login, _) ->
          "has a host key that is not known yet (gpush login " + login + ")";
      case MachineFailure.KeyRefused(_, var login, _) ->
          "accepted none of your keys (gpush login " + login + ")";
      case MachineFailure.HostKeyChanged _ -> "has another host key than before";
      case MachineFailure.Unreachable(_, var reason) -> "does not answer: " + reason;
      case MachineFailure.Refused(_, var reason) -> "refuses connections: " + reason;
      case MachineFailure.ProxyFailed(_, var reason) -> "cannot be reached: " + reason;
      case MachineFailure.UnknownHost(_, var reason) -> "cannot be found: " + reason;
      case MachineFailure.NeedsOpenSsh(_, var reason) -> "needs an OpenSSH client: " + reason;
      case MachineFailure.NoSsh(_, var program) ->
          "needs " + program + ", which is not installed here";
      case MachineFailure.Broken(_, var reason) -> "cannot be reached: " + reason;
      case BackendFailure.NoAnswer(_, var waited) ->
          "did not answer within " + DurationText.of(waited.plusMillis(999));
      case BackendFailure.Taken(_, var what, _) -> "has nothing free: " + what;
      case BackendFailure.NeverFits(_, var reason, _) -> "can never grant this: " + reason;
      case BackendFailure.Unavailable(_, var reason, _) -> "cannot be used: " + reason;
      case BackendFailure.ReserveFailed(_, var reason) -> "could not provide the nodes: " + reason;
      case AgentFailure.NoPython _ -> "has no Python that the agent can use";
      case AgentFailure.CannotWrite(var path, var reason) -> "cannot write " + path + ": " + reason;
      case AgentFailure.Held(var what, var holder) ->
          "is in use: " + what + " is held by " + holder;
      case AgentFailure.Died(var detail) -> "has an agent that ended: " + detail;
      case AgentFailure _,
          BackendFailure _,
          UsageFailure _,
          ConfigFailure _,
          SessionFailure _,
          SyncFailure _,
          LaunchFailure _,
          GatewayFailure _ ->
          "failed: " + FailureClause.of(failure);
    };
  }

  /**
   * Says that native options are not used. {@code --time} is, because every backend has a lease.
   */
  static String unused(String backend, List<String> natives) {
    List<String> others = natives.stream().filter(each -> !each.startsWith("--time=")).toList();
    return others.isEmpty()
        ? backend + " is not Slurm"
        : backend + " does not use " + String.join(" ", others) + ", which only Slurm knows";
  }

  private static String and(List<String> items) {
    return items.size() < 2
        ? String.join("", items)
        : String.join(", ", items.subList(0, items.size() - 1)) + " and " + items.getLast();
  }
}
