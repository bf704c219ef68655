package dev.gpush.control.server;

import java.time.Duration;

/**
 * What one gateway bears from its clients.
 *
 * @param connections at once; more than a person opens, and than a script should
 * @param argumentBytes of all words of a command together
 * @param environmentBytes of all variables together
 * @param greeting how long a client may take to say what it wants
 */
public record Limits(int connections, int argumentBytes, int environmentBytes, Duration greeting) {
  public static final Limits STANDARD =
      new Limits(256, 2 * 1024 * 1024, 2 * 1024 * 1024, Duration.ofSeconds(10));
}
