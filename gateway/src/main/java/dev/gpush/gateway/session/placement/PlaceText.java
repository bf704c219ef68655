package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.session.Outlook.Answer;
import dev.gpush.core.session.Outlook.Offer;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
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
              + Phrase.and(queues)
              + (queues.size() > 1 ? "; the first to provide all nodes is kept" : ""));
    }
    offers.stream()
        .filter(offer -> !taken.contains(offer))
        .map(PlaceText::other)
        .forEach(parts::add);
    return String.join("; ", parts);
  }

  private static String other(Offer offer) {
    String backend = offer.backend();
    return switch (offer.answer()) {
      case Answer.Failed(var failure) -> FailureText.clause(backend, failure);
      case Answer.Planned(Plan.Now _) -> backend + " is also free" + price(offer);
      case Answer.Planned(Plan.Never(var reason, _)) ->
          backend + " can never grant this: " + reason;
      case Answer.Planned(Plan.Later(var reason, var estimate, _)) ->
          backend
              + (!offer.hasQueue()
                  ? " has nothing free"
                  : estimate
                      .map(wait -> " would be " + about(wait))
                      .orElse(" would wait: " + reason));
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

  /**
   * Says that native options are not used. {@code --time} is, because every backend has a lease.
   */
  static String unused(String backend, List<String> natives) {
    List<String> others = natives.stream().filter(each -> !each.startsWith("--time=")).toList();
    return others.isEmpty()
        ? backend + " is not Slurm"
        : backend + " does not use " + String.join(" ", others) + ", which only Slurm knows";
  }
}
