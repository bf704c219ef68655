package dev.gpush.testkit.text;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Words that texts for users must not have; see "Names and English" in the house style. */
public final class PlainEnglish {
  private static final Pattern PICTURES =
      Pattern.compile(
          "(?i)\\b(anew|afresh|whoever|somebody|nobody|is to be|at work|onlooker|came to nothing"
              + "|like that|without a word|so many|looks on|began again|no use for|any more"
              + "|perhaps|asks nobody|way there|has it first|errand|stranger)\\b");

  /** Shows that data was printed instead of a sentence. */
  private static final Pattern DATA =
      Pattern.compile(
          "\\bnull\\b|Optional|\\[[A-Z]?[a-z]+=|[{}]|%[sd]|[a-z]Failure\\b|Exception|dev\\.gpush");

  private PlainEnglish() {}

  public static void check(String text) {
    Matcher found = PICTURES.matcher(text);
    assertFalse(found.find(), () -> "not plain: '" + found.group() + "' in: " + text);
  }

  /** As {@link #check}, and no record, exception or format string is in it. */
  public static void checkSentence(String text) {
    check(text);
    Matcher found = DATA.matcher(text);
    assertFalse(found.find(), () -> "data, not a sentence: '" + found.group() + "' in: " + text);
  }
}
