package dev.gpush.core.backend;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What a backend knows of a gang. "Cannot tell" is never "gone", and a gang is not gone as long as
 * one of its nodes may live.
 */
public sealed interface Observation {
  record Exists() implements Observation {}

  /**
   * Some nodes are gone for good, the others work.
   *
   * @param lost by number, not empty
   */
  record Partly(List<Integer> lost, String reason) implements Observation {
    public Partly {
      lost = List.copyOf(lost);
      if (lost.isEmpty()) {
        throw new IllegalArgumentException("no node is lost");
      }
    }

    /** "node 1", "nodes 1, 3". */
    public String nodes() {
      String numbers = lost.stream().map(String::valueOf).collect(Collectors.joining(", "));
      return (lost.size() == 1 ? "node " : "nodes ") + numbers;
    }
  }

  record Gone(String reason) implements Observation {}

  record CannotTell(String reason) implements Observation {}
}
