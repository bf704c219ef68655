package dev.gpush.core.fabric;

import java.util.stream.Stream;

/** How much is checked; each level has what the levels before it have. */
public enum CheckLevel {
  /** What the nodes say of themselves, and whether it fits together. */
  FACTS(0),
  /** Also the start of CUDA on each GPU, and TCP between all nodes. */
  CONNECTIONS(1),
  /** Also a collective through the user's torch. It uses all nodes for some seconds. */
  COLLECTIVE(2);

  private final int number;

  CheckLevel(int number) {
    this.number = number;
  }

  /** As {@code --level} takes it. */
  public int number() {
    return number;
  }

  /** The level of this number, from 0 to 2. */
  public static CheckLevel of(int number) {
    return Stream.of(values()).filter(each -> each.number == number).findFirst().orElseThrow();
  }

  public boolean includes(CheckLevel other) {
    return number >= other.number;
  }
}
