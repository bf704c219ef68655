package dev.gpush.launch.check;

import java.util.ArrayList;
import java.util.List;

/** Which nodes are measured together: rounds of pairs, in which each node has another partner. */
final class PairRounds {
  /** A node that is slow with three partners is slow; with one it may be the partner. */
  private static final int MOST = 3;

  private PairRounds() {}

  /** Of an odd number of nodes another one has none in each round. */
  static List<List<List<Integer>>> of(int nodes) {
    int seats = nodes + nodes % 2;
    var rounds = new ArrayList<List<List<Integer>>>();
    for (int round = 0; round < Math.min(MOST, seats - 1); round++) {
      var pairs = new ArrayList<List<Integer>>();
      for (int at = 0; at < seats / 2; at++) {
        // As in a tournament: the last one keeps its seat, and the others move on by one.
        int first = at == 0 ? seats - 1 : (round + at) % (seats - 1);
        int second = at == 0 ? round : (round + seats - 1 - at) % (seats - 1);
        if (first < nodes && second < nodes) {
          pairs.add(List.of(Math.min(first, second), Math.max(first, second)));
        }
      }
      rounds.add(pairs);
    }
    return rounds;
  }
}
