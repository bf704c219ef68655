package dev.gpush.core.check;

/** How much is checked; each level has what the levels before it have. */
public enum CheckLevel {
  /** What the nodes say of themselves, and whether it fits together. */
  FACTS,
  /** Also the start of CUDA on each GPU, TCP between all nodes, and their names. */
  CONNECTIONS,
  /** Also a collective through the user's torch. It uses all nodes for some seconds. */
  COLLECTIVE;

  /** As {@code --level} takes it. */
  public int number() {
    return ordinal();
  }

  /** The level of this number, from 0 to 2. */
  public static CheckLevel of(int number) {
    return values()[number];
  }

  public boolean includes(CheckLevel other) {
    return compareTo(other) >= 0;
  }
}
