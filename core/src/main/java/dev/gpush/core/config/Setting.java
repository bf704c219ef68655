package dev.gpush.core.config;

import dev.gpush.core.json.Json;

/**
 * One effective value and where it came from ({@code gpush.yaml:3}, {@code --nodes}, {@code built
 * in}).
 *
 * @param text the value as people write it: {@code 1h} where the value is 3600; empty for none
 */
public record Setting(String key, Json value, String text, String origin) {
  /** The origin of a default. */
  public static final String BUILT_IN = "built in";

  public boolean isBuiltIn() {
    return origin.equals(BUILT_IN);
  }
}
