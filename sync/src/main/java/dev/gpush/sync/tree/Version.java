package dev.gpush.sync.tree;

import java.util.Optional;

/** What one side has at a path: kind, content, executable bit and target are all part of it. */
public sealed interface Version {
  record Absent() implements Version {}

  record Known(Entry entry) implements Version {}

  /**
   * Something of which only that is known that it is neither absent nor any version that is known.
   *
   * @param whyNot why it cannot come home, as a clause; empty when it may
   */
  record Unread(String whyNot) implements Version {}

  static Version of(Optional<Entry> entry) {
    return entry.<Version>map(Known::new).orElseGet(Absent::new);
  }

  default boolean isAbsent() {
    return this instanceof Absent;
  }

  /** Whether both are certainly the same; what was not read is like nothing. */
  default boolean is(Version other) {
    return !(this instanceof Unread) && equals(other);
  }

  /** Whether both are files with the same bytes; their executable bits may differ. */
  default boolean hasBytesOf(Version other) {
    return this instanceof Known(Entry.File(_, _, var hash))
        && other instanceof Known(Entry.File(_, _, var otherHash))
        && hash.equals(otherHash);
  }
}
