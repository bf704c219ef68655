package dev.gpush.core.text;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** An enum whose constants have their own names as words, for people, JSON and records. */
public interface Worded {
  /** Of the constant. */
  String name();

  /** {@code leads-out} of LEADS_OUT. It is promised: EnumWordsTest has all of them. */
  default String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Empty for a word of another version. */
  static <E extends Enum<E> & Worded> Optional<E> of(Class<E> kind, String word) {
    return Stream.of(kind.getEnumConstants()).filter(each -> each.word().equals(word)).findFirst();
  }
}
