package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PairRoundsTest {
  @Test
  void fourNodesMeetEachOther() {
    assertEquals(
        List.of(
            List.of(List.of(0, 3), List.of(1, 2)),
            List.of(List.of(1, 3), List.of(0, 2)),
            List.of(List.of(2, 3), List.of(0, 1))),
        PairRounds.of(4));
  }

  @Test
  void oneNodeHasNoPartner() {
    assertEquals(List.of(List.of()), PairRounds.of(1));
    assertEquals(List.of(List.of(List.of(0, 1))), PairRounds.of(2));
  }

  @Test
  void inEachRoundANodeIsInOnePairAndItsPartnersDiffer() {
    for (int nodes = 3; nodes <= 65; nodes++) {
      List<List<List<Integer>>> rounds = PairRounds.of(nodes);
      var pairs = new HashSet<List<Integer>>();
      for (List<List<Integer>> round : rounds) {
        var seen = new HashSet<Integer>();
        for (List<Integer> pair : round) {
          assertTrue(pairs.add(pair), "twice: " + pair + " of " + nodes);
          assertTrue(seen.addAll(pair) && pair.get(0) < pair.get(1), "pair " + pair);
        }
        assertEquals(nodes / 2, round.size());
        assertEquals(2 * (nodes / 2), seen.size());
      }
      int count = nodes;
      assertTrue(
          IntStream.range(0, nodes)
              .allMatch(node -> pairs.stream().filter(pair -> pair.contains(node)).count() >= 2),
          "of " + count + " nodes one has fewer than two partners");
    }
  }
}
