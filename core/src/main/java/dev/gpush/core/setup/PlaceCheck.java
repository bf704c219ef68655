package dev.gpush.core.setup;

import java.time.Duration;

/**
 * One place that can be looked at.
 *
 * @param name as the user knows it: a Host of ssh, a context
 * @param origin where it is written: {@code ~/.ssh/config:3}
 */
public record PlaceCheck(String name, String origin, Inspection inspection) {
  /** Looks at the place. */
  @FunctionalInterface
  public interface Inspection {
    /**
     * What is there.
     *
     * @param limit when the answer is no longer waited for; then the thread is interrupted
     */
    PlaceFinding look(Duration limit) throws InterruptedException;
  }

  /** A place that is not looked at, for a reason that is known already. */
  public static PlaceCheck unasked(String name, String origin, String why, String remedy) {
    return new PlaceCheck(name, origin, _ -> new PlaceFinding.Unasked(name, origin, why, remedy));
  }
}
