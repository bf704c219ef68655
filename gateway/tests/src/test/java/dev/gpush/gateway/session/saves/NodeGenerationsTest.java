package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
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
    generations.forget(1);

    assertEquals(List.of(0), generations.hold(List.of(0, 1), 7, begun));
    assertFalse(generations.areEqual());
  }
}
