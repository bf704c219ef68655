package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

final class NodeStandingsTest {
  private final NodeStandings standings = new NodeStandings(2);

  @Test
  void aNodeBehindACutIsNotCertainToHaveWhatItHad() {
    standings.hold(List.of(0, 1), 7, standings.moment());
    assertTrue(standings.areEqual());

    standings.away(1, true);

    assertFalse(standings.areEqual());
    assertEquals(List.of(1), standings.away());
    assertEquals(List.of(0, 1), standings.present(0));
    standings.away(1, false);
    assertTrue(standings.areEqual());
  }

  @Test
  void aNodeWithAnotherAgentMeanwhileIsNotTakenToHaveIt() {
    long begun = standings.moment();
    standings.forget(1);

    assertEquals(List.of(0), standings.hold(List.of(0, 1), 7, begun));
    assertFalse(standings.areEqual());
  }
}
