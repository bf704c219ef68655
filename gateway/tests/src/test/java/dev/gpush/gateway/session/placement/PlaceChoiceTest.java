package dev.gpush.gateway.session.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.BackendFailure.Refusal;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.session.Outlook.Answer;
import dev.gpush.core.session.Outlook.Offer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PlaceChoiceTest {
  private static Offer now(String name) {
    return offer(name, new Plan.Now("2 × 8 H100"));
  }

  private static Offer later(String name, int minutes) {
    return offer(
        name, new Plan.Later("too full", Optional.of(Duration.ofMinutes(minutes)), List.of()));
  }

  private static Offer whoKnows(String name) {
    return offer(name, new Plan.Later("too full", Optional.empty(), List.of()));
  }

  private static Offer never(String name) {
    return offer(name, new Plan.Never("it has no H100", List.of()));
  }

  private static Offer offer(String name, Plan plan) {
    return new Offer(name, new Answer.Planned(plan), Optional.empty(), true);
  }

  private static Offer failed(String name, Failure failure) {
    return new Offer(name, new Answer.Failed(failure), Optional.empty(), true);
  }

  private static Offer priced(Offer offer, double price) {
    return new Offer(offer.backend(), offer.answer(), Optional.of(price), offer.hasQueue());
  }

  private static Offer withoutQueue(Offer offer) {
    return new Offer(offer.backend(), offer.answer(), offer.price(), false);
  }

  @Test
  void nowIsBeforeLaterHoweverTheyAreListed() {
    PlaceChoice choice = PlaceChoice.of(List.of(later("hpc", 40), now("rack")));

    assertEquals(List.of("rack"), choice.first());
    assertEquals("on rack: free now; hpc would be ≈40m", choice.why());
  }

  @Test
  void ofThoseThatAreFreeTheCheapestIsFirstThenTheOneListedFirst() {
    PlaceChoice choice =
        PlaceChoice.of(
            List.of(priced(now("cloud"), 40), priced(now("other"), 9.5), now("b"), now("a")));

    assertEquals(List.of("b", "a", "other", "cloud"), choice.now());
    assertEquals(
        "on b: free now; cloud is also free, 40.00 an hour; other is also free, 9.50 an hour;"
            + " a is also free",
        choice.why());
  }

  @Test
  void severalQueuesAreWaitedInTheSoonestFirst() {
    PlaceChoice choice =
        PlaceChoice.of(List.of(whoKnows("lab"), later("hpc", 200), later("uni", 5)));

    assertEquals(List.of("uni", "hpc", "lab"), choice.first());
    assertEquals(
        "queued on uni (≈5m), hpc (≈3h20m) and lab (no estimate); the"
            + " first to provide all nodes is kept",
        choice.why());
  }

  @Test
  void atMostFourQueuesAreWaitedIn() {
    List<Offer> offers =
        List.of(later("a", 6), later("b", 5), later("c", 4), later("d", 3), later("e", 2));

    assertEquals(List.of("e", "d", "c", "b"), PlaceChoice.of(offers).queues());
  }

  @Test
  void whoHasNoQueueIsNotWaitedFor() {
    PlaceChoice choice = PlaceChoice.of(List.of(withoutQueue(later("rack", 1)), later("hpc", 40)));

    assertEquals(List.of("hpc"), choice.first());
    assertEquals("queued on hpc (≈40m); rack has nothing free", choice.why());
  }

  @Test
  void aLoginThatNeedsAPersonIsNamedAndNotWaitedFor() {
    PlaceChoice choice =
        PlaceChoice.of(
            List.of(
                failed("hpc", new MachineFailure.NeedsYou("login1", "hpc", "password")),
                failed("far", new BackendFailure.NoAnswer("far", "5s")),
                now("rack")));

    assertEquals(List.of("rack"), choice.first());
    assertEquals(
        "on rack: free now; hpc: login1 needs you to log in: gpush login hpc; far did not answer: it"
            + " sent nothing for 5s",
        choice.why());
  }

  @Test
  void withoutAChoiceThereIsNothingToSay() {
    assertEquals("", PlaceChoice.of(List.of(now("rack"))).why());
    assertEquals("", PlaceChoice.of(List.of(never("rack"), never("hpc"))).why());
  }

  @Test
  void whoeverCannotHasAReason() {
    List<Offer> offers = List.of(never("rack"), withoutQueue(later("lab", 1)));
    PlaceChoice choice = PlaceChoice.of(offers);

    assertTrue(choice.isEmpty());
    assertEquals(
        List.of(
            new Refusal("rack", new BackendFailure.NeverFits("rack", "it has no H100", List.of())),
            new Refusal("lab", new BackendFailure.Taken("lab", "too full", List.of()))),
        PlaceChoice.refusals(offers));
  }
}
