package dev.gpush.core.gang;

import dev.gpush.core.file.RandomHex;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * The random name of a gang: sixteen hex digits, made before the backend is asked, so that the
 * request can be repeated after a lost reply.
 */
public record GangId(String text) {
  private static final Pattern RULE = Pattern.compile("[0-9a-f]{16}");

  public GangId {
    if (!RULE.matcher(text).matches()) {
      throw new IllegalArgumentException("a gang id is sixteen hex digits, not " + text);
    }
  }

  public static GangId random(RandomGenerator random) {
    return new GangId(RandomHex.of(random, 8));
  }

  @Override
  public String toString() {
    return text;
  }
}
