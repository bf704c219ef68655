package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class NodeGenerationsTest {
  private final NodeGenerations generations = new NodeGenerations(2);

  @Test
  void aNodeBehindACutIsNotCertainToHaveWhatItHad() {
    generations.hold(List.of(0, 1), 7, generations.moment());
    assertTrue(generations.areEqual());

    generations.away(1, true);

    assertFalse(generations.areEqual());
    assertEquals(List.of(1), generations.away());
    assertEquals(List.of(0, 1), generations.present(0));
    generations.away(1, false);
    assertTrue(generations.areEqual());
  }

  @Test
  void aNodeWithAnotherAgentMeanwhileIsNotTakenToHaveIt() {
    long begun = generations.moment();
    generations.replaced(1, true);

    generations.hold(List.of(0, 1), 7, begun);

    assertEquals(Optional.of(7L), generations.generation(0));
    assertTrue(generations.isEmpty(1));
    assertFalse(generations.areEqual());
  }

  @Test
  void aNodeThatIsAsideTakesPartWhenItHasCaughtUpAndItsTimeHasCome() {
    generations.hold(List.of(0, 1), 7, generations.moment());
    generations.setAside(1, "it has not answered", 0);

    long later = Duration.ofSeconds(1).toNanos();
    assertEquals(List.of(0), generations.present(later));
    assertEquals(Optional.empty(), generations.next(later));
    assertFalse(generations.areWanting(later));
    assertFalse(generations.areEqual());
    generations.hold(List.of(0), 8, generations.moment());
    assertEquals(Optional.of(8L), generations.common(generations.present(later)));
    assertEquals(Optional.empty(), generations.common());

    generations.caughtUp(1);
    assertEquals(List.of(0), generations.present(0));
    assertEquals(Optional.of(Duration.ofSeconds(1)), generations.next(0));
    assertEquals(List.of(0, 1), generations.present(later));
    assertTrue(generations.areWanting(later));
  }

  @Test
  void anEmptyNodeIsEmptyUntilItIsFilledWhateverItsNextAgentSays() {
    generations.hold(List.of(0, 1), 7, generations.moment());
    for (int node = 0; node < 2; node++) {
      generations.replaced(node, true);
      generations.replaced(node, false);
    }

    assertTrue(generations.isEmpty(0));
    assertEquals(Optional.empty(), generations.common());
    assertTrue(generations.areWanting(0));
    generations.hold(List.of(0), 8, generations.moment());
    assertFalse(generations.isEmpty(0));
    assertTrue(generations.isAnyEmpty());
    generations.hold(List.of(1), 8, generations.moment());
    assertFalse(generations.isAnyEmpty());
    assertTrue(generations.areEqual());
  }
}
