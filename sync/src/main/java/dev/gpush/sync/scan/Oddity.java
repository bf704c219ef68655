package dev.gpush.sync.scan;

import java.util.Optional;

/** Why something is not sent, other than by an ignore rule. */
enum Oddity {
  LINK("they point out of the workspace", ""),
  NO_FILE("they are not regular files", ""),
  NAME("their names are not UTF-8 or too long", "its name is not UTF-8 or too long"),
  UNREADABLE("these folders cannot be read", "this folder cannot be read");

  private final String many;
  private final String one;

  Oddity(String many, String one) {
    this.many = many;
    this.one = one;
  }

  /** As a clause about several. */
  String ofMany() {
    return many;
  }

  /** As a clause about one that its owner may want to be sent; empty where nobody could send it. */
  Optional<String> ofOne() {
    return one.isEmpty() ? Optional.empty() : Optional.of(one);
  }
}
