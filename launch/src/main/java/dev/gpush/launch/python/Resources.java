package dev.gpush.launch.python;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Texts that lie beside the classes. */
public final class Resources {
  private Resources() {}

  public static String text(String name) {
    try (var in = Resources.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("not packed: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
