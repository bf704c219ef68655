package dev.gpush.control.server;

import java.time.Duration;

/**
 * The limits of a gateway for its clients.
 *
 * @param connections at once; more than a user or a script should open
 * @param argumentBytes of all words of a command together
 * @param environmentBytes of all variables together
 * @param greeting how long a client may take to send its request
 */
public record Limits(int connections, int argumentBytes, int environmentBytes, Duration greeting) {
  public static final Limits STANDARD =
      new Limits(256, 2 * 1024 * 1024, 2 * 1024 * 1024, Duration.ofSeconds(10));
}
