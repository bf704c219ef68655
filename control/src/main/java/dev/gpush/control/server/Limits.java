package dev.gpush.control.server;

import java.time.Duration;

/**
 * The limits of a gateway for its clients.
 *
 * @param connections at once; more than a user or a script should open
 * @param greeting how long a client may take to send its request
 */
public record Limits(int connections, Duration greeting) {
  public static final Limits STANDARD = new Limits(256, Duration.ofSeconds(10));
}
