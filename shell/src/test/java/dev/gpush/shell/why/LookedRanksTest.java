package dev.gpush.shell.why;

import static dev.gpush.shell.why.WhyFixture.inCode;
import static dev.gpush.shell.why.WhyFixture.moved;
import static dev.gpush.shell.why.WhyFixture.node;
import static dev.gpush.shell.why.WhyFixture.once;
import static dev.gpush.shell.why.WhyFixture.waiting;
import static dev.gpush.shell.why.WhyFixture.with;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.shell.why.RunExplanation.Start;
import dev.gpush.shell.why.RunExplanation.Subject;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class LookedRanksTest {
  private static Json reduce(int rank) {
    return waiting(rank, "all_reduce", "train.py", 42);
  }

  private static Json batch(int rank) {
    return inCode(rank, "load_batch", "data.py", 17);
  }

  private static Json receive(int rank) {
    return waiting(rank, "recv", "pipe.py", 5);
  }

  /** At these places one after the other; the last one is what is shown of it. */
  private static Json changing(Json... looks) {
    List<List<Json>> spots = Arrays.stream(looks).map(look -> look.items("frames")).toList();
    return with(moved(looks[looks.length - 1]), "spots", spots);
  }

  private static Json mostlyReducing(int rank) {
    return changing(reduce(rank), batch(rank), reduce(rank), reduce(rank));
  }

  private static Optional<String> behind(List<Json> ranks) {
    Subject subject = new Subject("run 7", Optional.of(7), 4, Start.unknown());
    return new LookedRanks(subject, List.of(node(0, 3, ranks.toArray(new Json[0])))).behind();
  }

  @Test
  void aRankThatWasInNoCollectiveIsBehindTheHalfThatMostlyWas() {
    List<Json> ranks =
        List.of(
            mostlyReducing(0),
            reduce(1),
            changing(reduce(2), batch(2), batch(2), batch(2)),
            moved(batch(3)));

    assertEquals(
        Optional.of(
            "2 of 4 ranks wait in all_reduce at train.py:42; rank 3 is in load_batch at data.py:17"),
        behind(ranks));
  }

  static Stream<Arguments> noStragglers() {
    return Stream.of(
        Arguments.of(
            "each was in the collective at one look at least",
            List.of(
                mostlyReducing(0), mostlyReducing(1), changing(reduce(2), batch(2)), reduce(3))),
        Arguments.of(
            "half of the ranks were there at one look of four",
            List.of(
                changing(batch(0), batch(0), batch(0), reduce(0)),
                changing(batch(1), batch(1), batch(1), reduce(1)),
                moved(batch(2)),
                moved(batch(3)))),
        Arguments.of(
            "one of the half was there at two looks of four",
            List.of(
                mostlyReducing(0),
                changing(batch(1), reduce(1), batch(1), reduce(1)),
                moved(batch(2)),
                moved(batch(3)))),
        Arguments.of(
            "those that were there were seen once",
            List.of(once(reduce(0)), once(reduce(1)), moved(batch(2)), moved(batch(3)))),
        Arguments.of(
            "the one that was not there was seen once",
            List.of(mostlyReducing(0), reduce(1), reduce(2), once(batch(3)))),
        Arguments.of(
            "the one that was not there waits for one rank",
            List.of(mostlyReducing(0), reduce(1), reduce(2), receive(3))),
        Arguments.of(
            "the one that was not there waited for one rank at one look",
            List.of(reduce(0), reduce(1), reduce(2), changing(receive(3), batch(3), batch(3)))));
  }

  @ParameterizedTest
  @MethodSource("noStragglers")
  void noRankIsBehindWhere(String why, List<Json> ranks) {
    assertEquals(Optional.empty(), behind(ranks), why);
  }
}
