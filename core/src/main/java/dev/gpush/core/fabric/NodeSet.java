package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/** Some nodes of a gang, by number, in order. */
public record NodeSet(List<Integer> numbers) {
  public NodeSet {
    numbers = List.copyOf(new TreeSet<>(numbers));
  }

  public static NodeSet of(Collection<Integer> numbers) {
    return new NodeSet(List.copyOf(numbers));
  }

  public static NodeSet of(int number) {
    return new NodeSet(List.of(number));
  }

  public boolean isEmpty() {
    return numbers.isEmpty();
  }

  public int count() {
    return numbers.size();
  }

  public boolean contains(int number) {
    return numbers.contains(number);
  }

  /** {@code node 5}, {@code nodes 0-2, 7}. */
  public String words() {
    return (numbers.size() == 1 ? "node " : "nodes ") + Phrase.ranges(numbers);
  }

  /** {@code all} of so many nodes, else {@code 0-2,7}. */
  public String cell(int total) {
    return numbers.size() == total ? "all" : Phrase.ranges(numbers).replace(" ", "");
  }

  Json json() {
    return Json.array(numbers);
  }

  static NodeSet read(Json json) {
    var numbers = new ArrayList<Integer>();
    for (Json item : json.items()) {
      if (item instanceof Json.Int(var number) && number >= 0 && number <= Integer.MAX_VALUE) {
        numbers.add((int) number);
      }
    }
    return of(numbers);
  }
}
