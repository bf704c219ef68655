package dev.gpush.shell.text;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Words that texts for users had once and do not have again; see "Names and English". */
public final class PlainEnglish {
  private static final Pattern PICTURES =
      Pattern.compile(
          "(?i)\\b(anew|afresh|whoever|somebody|nobody|is to be|at work|onlooker|came to nothing"
              + "|like that|without a word|so many)\\b");

  private PlainEnglish() {}

  public static void check(String text) {
    Matcher found = PICTURES.matcher(text);
    assertFalse(found.find(), () -> "not plain: '" + found.group() + "' in: " + text);
  }
}
