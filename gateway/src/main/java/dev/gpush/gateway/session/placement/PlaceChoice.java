package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.BackendFailure.Refusal;
import dev.gpush.core.session.Outlook.Answer;
import dev.gpush.core.session.Outlook.Offer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Chooses the backends to ask: now before later, then soonest, then cheapest, then as listed. Pure.
 *
 * @param now backends that would grant at once, best first: tried one after the other
 * @param queues backends with a queue, best first: all are asked at once
 * @param why one line; empty when there was no choice
 */
public record PlaceChoice(List<String> now, List<String> queues, String why) {
  /** Each request takes a place in a queue that other users share. */
  static final int MAX_QUEUES = 4;

  public PlaceChoice {
    now = List.copyOf(now);
    queues = List.copyOf(queues);
  }

  static PlaceChoice of(List<Offer> offers) {
    List<Offer> now =
        offers.stream()
            .filter(offer -> plan(offer).filter(Plan.Now.class::isInstance).isPresent())
            .sorted(Comparator.comparingDouble(PlaceChoice::price))
            .toList();
    List<Offer> queues =
        offers.stream()
            .filter(Offer::hasQueue)
            .filter(offer -> plan(offer).filter(Plan.Later.class::isInstance).isPresent())
            .sorted(
                Comparator.comparing(PlaceChoice::estimate).thenComparingDouble(PlaceChoice::price))
            .limit(MAX_QUEUES)
            .toList();
    List<Offer> taken = now.isEmpty() ? queues : now.subList(0, 1);
    return new PlaceChoice(names(now), names(queues), PlaceText.why(offers, taken));
  }

  /** No backend can be asked. */
  boolean isEmpty() {
    return now.isEmpty() && queues.isEmpty();
  }

  /** The backends that are asked first. */
  List<String> first() {
    return now.isEmpty() ? queues : now.subList(0, 1);
  }

  /** The backends that cannot be asked, and why. */
  static List<Refusal> refusals(List<Offer> offers) {
    var refusals = new ArrayList<Refusal>();
    for (Offer offer : offers) {
      String name = offer.backend();
      switch (offer.answer()) {
        case Answer.Failed(var failure) -> refusals.add(new Refusal(name, failure));
        case Answer.Planned(Plan.Never(var reason, var works)) ->
            refusals.add(new Refusal(name, new BackendFailure.NeverFits(name, reason, works)));
        case Answer.Planned(Plan.Later(var reason, _, var holders)) -> {
          if (!offer.hasQueue()) {
            refusals.add(new Refusal(name, new BackendFailure.Taken(name, reason, holders)));
          }
        }
        case Answer.Planned(Plan.Now _) -> {}
      }
    }
    return refusals;
  }

  static Optional<Plan> plan(Offer offer) {
    return offer.answer() instanceof Answer.Planned(var plan)
        ? Optional.of(plan)
        : Optional.empty();
  }

  /** A backend without a price counts as free of charge. */
  private static double price(Offer offer) {
    return offer.price().orElse(0.0);
  }

  /** A backend without an estimate comes after those with one. */
  private static Duration estimate(Offer offer) {
    return plan(offer)
        .flatMap(plan -> plan instanceof Plan.Later(_, var wait, _) ? wait : Optional.empty())
        .orElse(Duration.ofDays(36_500));
  }

  private static List<String> names(List<Offer> offers) {
    return offers.stream().map(Offer::backend).toList();
  }
}
