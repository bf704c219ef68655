package dev.gpush.core.session;

/** Reads the batch scripts of a scheduler. Thread-safe. */
@FunctionalInterface
public interface BatchScripts {
  /**
   * What a script asks for.
   *
   * @param file its name in failures
   * @throws dev.gpush.core.failure.GpushException with {@code BadScript}: every bad line of it
   */
  BatchHeaders read(String file, String text);
}
